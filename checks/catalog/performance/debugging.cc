#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/debugging.h"

namespace dlcheck::performance {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 16,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps, all of which have it on",
                         .source = "own reasoning: a few steps are a search for an error"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const dlcheck::Debugging& debugging) {
  if (static_cast<double>(debugging.steps.size()) < settings[kSteps]) {
    return absl::NotFoundError(StrCat("fewer than ", settings[kSteps], " sampled steps"));
  }
  const auto all = static_cast<int64_t>(debugging.steps.size());
  Verdict verdict{.findings = {}, .judged = Counted(all, "sampled step")};
  for (const auto& [facility, steps] : debugging.facilities) {
    if (!std::ranges::includes(steps, debugging.steps)) continue;
    verdict.findings.push_back({.severity = Severity::kWarning,
                                .message = StrCat("All of ", Counted(all, "sampled step"),
                                                  " ran with ", facility, " switched on."),
                                .places = {{.thing = facility, .file = ""}},
                                .first_step = *debugging.steps.begin(),
                                .last_step = *debugging.steps.rbegin(),
                                .count = all,
                                .measured = static_cast<double>(all),
                                .bound = settings[kSteps]});
  }
  return verdict;
}

// Sixteen steps, all but `off` of them with anomaly detection.
Evidence Debugged(int off) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 16; ++step) {
    if (step >= off) run.Event(Event::kDebugging, 0, "facility", "anomaly detection");
    AddStep(run, {.held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check Debugging() {
  return {
      .id = "performance/debugging",
      .promise = "Facilities for debugging are off in training.",
      .why = "Anomaly detection makes a backward pass two to three times as slow.",
      .method = "What was switched on as each sampled step ran.",
      .fix =
          "Take torch.autograd.set_detect_anomaly(True) out, or use detect_anomaly() around the "
          "one step that is looked at.",
      .limits = "On in some steps alone is taken to be meant.",
      .sources = {"PyTorch documentation of torch.autograd.set_detect_anomaly",
                  "measured elsewhere: 22 to 52-57 s an epoch (ignite pull request 219)"},
      .covers = {"F11"},
      .explains = {"performance/step_time"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"off in the first step", Expect::kClean, [] { return Debugged(1); }},
                   {"on in all steps", Expect::kFaulty, [] { return Debugged(0); }}},
  };
}

}  // namespace dlcheck::performance
