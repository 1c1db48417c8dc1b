#include "checks/catalog/findings/trial_finding.h"

#include <utility>
#include <vector>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/text.h"

namespace dlcheck {

absl::StatusOr<Verdict> JudgeTrials(const Settings& settings, const Sensitivities::Of& tried,
                                    const TrialText& text) {
  if (tried.trials.empty()) {
    return absl::FailedPreconditionError(tried.untried.empty() ? std::string(text.nothing)
                                                               : tried.untried);
  }
  const auto count = static_cast<int64_t>(tried.trials.size());
  Verdict verdict{.findings = {}, .judged = Counted(count, "test")};
  for (const Sensitivities::Trial& trial : tried.trials) {
    const double bound = settings[kTimes] * trial.rounding + settings[kFloor];
    if (!(trial.share > bound)) continue;
    std::string blame;
    if (!trial.where.empty()) blame = StrCat(" The change begins in ", trial.where, ".");
    std::vector<Place> places = {{.thing = trial.model, .file = ""}};
    if (trial.site.line > 0) {
      places.push_back({.thing = "", .file = trial.site.file, .line = trial.site.line});
    }
    verdict.findings.push_back(
        {.severity = text.severity,
         .message = StrCat(text.before, trial.model, " changed by ", Short(trial.share),
                           " of their norm at step ", trial.step, " (rounding explains ",
                           Short(trial.rounding), ").", blame),
         .places = std::move(places),
         .first_step = trial.step,
         .last_step = trial.step,
         .count = 1,
         .measured = trial.share,
         .bound = bound});
    return verdict;
  }
  return verdict;
}

Evidence WithTrial(Quantity quantity, double share, double rounding) {
  RunBuilder trial;
  for (int step = 0; step < 4; ++step) AddStep(trial, {.held = {}});
  trial.Quantity(quantity, "model", "Gpt", share, rounding);
  Evidence evidence;
  evidence.Add(kPlain, TwoLayers().Build());
  evidence.Add(kTrials, trial.Build());
  return evidence;
}

}  // namespace dlcheck
