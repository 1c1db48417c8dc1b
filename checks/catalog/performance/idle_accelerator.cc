#include "checks/catalog/examples/cost_runs.h"
#include "checks/catalog/findings/cost_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/run_builder.h"
#include "checks/engine/text.h"
#include "checks/signals/run/statistics.h"

namespace dlcheck::performance {
namespace {

constexpr Setting kIdle{.name = "idle",
                        .value = 0.3,
                        .low = 0,
                        .high = 1,
                        .unit = "1",
                        .meaning = "largest share of a step in which the accelerator is idle",
                        .source = "own reasoning: below it, no change saves as much"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepCosts& costs) {
  if (costs.idle.empty()) {
    return absl::NotFoundError("no trace of the PyTorch profiler with an accelerator was read");
  }
  const auto steps = static_cast<int64_t>(costs.idle.size());
  Verdict verdict{.findings = {}, .judged = Counted(steps, "profiled step")};
  const double idle = Median(ValuesOf(costs.idle, 0, costs.idle.size()));
  if (idle <= settings[kIdle]) return verdict;
  const double waits =
      costs.reads.empty() ? 0 : Median(ValuesOf(costs.reads, 0, costs.reads.size()));
  verdict.findings.push_back(
      CostFinding(costs.idle, 0, Severity::kNote,
                  StrCat("The accelerator was idle in ", Short(100 * idle),
                         " % of a step, and the host waited ", Short(waits),
                         " times for it (medians of ", Counted(steps, "profiled step"), ")."),
                  idle, settings[kIdle]));
  return verdict;
}

// Four profiled steps.
Evidence Profiled(double idle) {
  RunBuilder run;
  for (int step = 0; step < 4; ++step) {
    run.Quantity(Quantity::kDeviceIdle, "accelerator", "", idle);
    run.Quantity(Quantity::kHostReads, "accelerator", "", 2);
    run.Event(Event::kStep, 0, "optimizer", "");
  }
  Evidence evidence;
  evidence.Add(kPlain, run.Build());
  return evidence;
}

}  // namespace

Check IdleAccelerator() {
  return {
      .id = "performance/idle_accelerator",
      .title = "The accelerator is idle for much of a step",
      .promise = "The accelerator works for most of a step.",
      .why = "The run takes longer than the work of its kernels.",
      .method =
          "Adds up the time of kernels and copies in each step of a profiler trace. Counts the "
          "calls "
          "in which the host waited.",
      .fix =
          "Read losses every hundred steps instead of each. Load data with workers and pinned "
          "memory. Use larger batches, torch.compile or CUDA graphs for small kernels.",
      .limits = {.needs = "A trace of the PyTorch profiler for `dlcheck judge`.",
                 .silent_when = "The trace has no kernel of an accelerator.",
                 .severity = "Always a note: the profiler itself slows the host.",
                 .blind_spots = "Several accelerators count as one.",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:
    loss = train_step(x.cuda(), y.cuda())
    print(loss.item()))",
                 .good = R"(for step, (x, y) in enumerate(loader):
    loss = train_step(x.cuda(non_blocking=True), y.cuda(non_blocking=True))
    if step % 100 == 0:
        print(loss.item()))"},
      .cpp = {},
      .sources = {"own reasoning"},
      .covers = {"synchronization-every-step"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kIdle},
      .judgement = Reads<&Judge>(),
      .examples = {{"an accelerator that works", Expect::kClean, [] { return Profiled(0.1); }},
                   {"an accelerator that is idle", Expect::kNote, [] { return Profiled(0.6); }}},
  };
}

}  // namespace dlcheck::performance
