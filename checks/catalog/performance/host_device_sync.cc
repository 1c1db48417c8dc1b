#include <algorithm>

#include "checks/catalog/examples/cost_runs.h"
#include "checks/catalog/findings/cost_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::performance {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 16,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest sampled steps for a judgment",
                         .source = "own reasoning: a short run may be a trial"};
constexpr Setting kLimit{
    .name = "limit",
    .value = 0,
    .low = 0,
    .high = 1e6,
    .unit = "reads per step",
    .meaning = "largest mean number of waits for an accelerator per step; 0: no limit",
    .source = "the user"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepCosts& costs) {
  if (static_cast<double>(costs.reads.size()) < settings[kSteps]) {
    return absl::NotFoundError(
        StrCat("fewer than ", settings[kSteps], " sampled steps on an accelerator"));
  }
  const auto steps = static_cast<int64_t>(costs.reads.size());
  Verdict verdict{.findings = {}, .judged = Counted(steps, "sampled step")};
  double reads = 0;
  for (const StepCosts::Cost& cost : costs.reads) reads += cost.value;
  const double limit = settings[kLimit], mean = reads / static_cast<double>(steps);
  const bool over = limit > 0 && mean > limit;
  const bool always = limit == 0 && std::ranges::all_of(costs.reads, [](const auto& cost) {
                        return cost.value > 0;
                      });
  if (!over && !always) return verdict;
  std::string message = StrCat(
      "The host waited for the accelerator in ", over ? "" : "each of ",
      Counted(steps, "sampled step"), ", ", mean == 1 ? "once" : StrCat(Short(mean), " times"),
      " per step on average", over ? StrCat(" (limit: ", Short(limit), ").") : ".");
  verdict.findings.push_back(CostFinding(costs.reads, 0, over ? Severity::kError : Severity::kNote,
                                         std::move(message), mean, limit));
  if (costs.reading.line > 0) {
    verdict.findings.back().places = {
        {.thing = "", .file = costs.reading.file, .line = costs.reading.line}};
  }
  return verdict;
}

// Sixteen steps that read once, all but the first few.
Evidence Reading(int without) {
  return WithCosts({.steps = 16, .reads = [=](int step) { return step < without ? 0 : 1; }});
}

}  // namespace

Check HostDeviceSync() {
  return {
      .id = "performance/host_device_sync",
      .title = "Every step waits for the accelerator",
      .promise = "The host runs ahead of the accelerator and does not wait for it in every step.",
      .why =
          "No work is queued while the host waits, so the accelerator is idle until the next "
          "operations arrive.",
      .method =
          "Counts the program's reads of accelerator values between steps, in sampled steps: "
          "Tensor.item(), tolist(), cpu(), bool(), float(), print() and torch.cuda.synchronize().",
      .fix =
          "Accumulate losses on the device and read them every hundred steps. Copy tensors with "
          "non_blocking=True. Compare and clip on the device.",
      .limits = {.needs = "An accelerator and at least 16 sampled steps.",
                 .silent_when =
                     "Reads by torch itself, in evaluations and in compiled code are not counted. "
                     "Reads by nonzero() and boolean masks are not counted.",
                 .severity = "Note if every sampled step reads, which is allowed. Error only above "
                             "the limit in [budget].",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for step, (x, y) in enumerate(loader):
    loss = train_step(model, optimizer, x, y)
    running += loss.item())",
                 .good = R"(for step, (x, y) in enumerate(loader):
    loss = train_step(model, optimizer, x, y)
    running += loss.detach()
    if step % 100 == 99:
        print(running.item() / 100)
        running.zero_())"},
      .cpp = {.bad = R"(for (auto& batch : *loader) {
  running += TrainStep(model, optimizer, batch).item<double>();
})",
              .good = R"(for (auto& batch : *loader) {
  running += TrainStep(model, optimizer, batch).detach();
})"},
      .sources = {"PyTorch tuning guide: avoid unnecessary CPU-GPU synchronization"},
      .covers = {"synchronization-every-step"},
      .explains = {"performance/step_time"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kSteps, kLimit},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"a read in all steps but one", Expect::kClean, [] { return Reading(1); }},
           {"a read in every step", Expect::kNote, [] { return Reading(0); }},
           {"at the limit", Expect::kClean, [] { return Reading(8); }, {{"limit", 0.5}}},
           {"above the limit", Expect::kError, [] { return Reading(7); }, {{"limit", 0.5}}}},
  };
}

}  // namespace dlcheck::performance
