#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/debugging.h"

namespace dlcheck::performance {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 16,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps, all with the feature enabled",
                         .source = "own reasoning: a few steps with it are debugging"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const dlcheck::Debugging& debugging) {
  if (static_cast<double>(debugging.steps.size()) < settings[kSteps]) {
    return absl::NotFoundError(StrCat("fewer than ", settings[kSteps], " sampled steps"));
  }
  const auto all = static_cast<int64_t>(debugging.steps.size());
  Verdict verdict{.findings = {}, .judged = Counted(all, "sampled step")};
  for (const auto& [facility, steps] : debugging.facilities) {
    if (!std::ranges::includes(steps, debugging.steps)) continue;
    verdict.findings.push_back({.severity = Severity::kWarning,
                                .message = StrCat("All ", Counted(all, "sampled step"),
                                                  " ran with ", facility, " enabled."),
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
      .title = "Autograd anomaly detection is always on",
      .promise = "Debugging features are off during training.",
      .why = "Anomaly detection makes a backward pass two to three times slower.",
      .method = "Records which debugging features are enabled in each sampled step.",
      .fix =
          "Remove torch.autograd.set_detect_anomaly(True), or use detect_anomaly() only around the "
          "step under investigation.",
      .limits = {.needs = "At least 16 sampled steps.",
                 .silent_when =
                     "The feature is on in only some steps, which is treated as intentional.",
                 .severity = "",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(torch.autograd.set_detect_anomaly(True)
for x, y in loader:
    train_step(model, optimizer, x, y))",
                 .good = R"(torch.autograd.set_detect_anomaly(False)
for x, y in loader:
    train_step(model, optimizer, x, y))"},
      .cpp = {.bad = R"(torch::autograd::AnomalyMode::set_enabled(true);
TrainOneEpoch(model, *loader, optimizer);)",
              .good = R"(torch::autograd::AnomalyMode::set_enabled(false);
TrainOneEpoch(model, *loader, optimizer);)"},
      .sources = {"PyTorch documentation of torch.autograd.set_detect_anomaly",
                  "measured elsewhere: 22 to 52-57 s an epoch (ignite pull request 219)"},
      .covers = {"debug-mode-left-on"},
      .explains = {"performance/step_time"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kDebugging,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"off in the first step", Expect::kClean, [] { return Debugged(1); }},
                   {"on in all steps", Expect::kWarning, [] { return Debugged(0); }}},
  };
}

}  // namespace dlcheck::performance
