#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/backward_errors.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kError{.name = "error",
                         .value = 1e-3,
                         .low = 0,
                         .high = 10,
                         .unit = "of the slope",
                         .meaning = "difference between backward and slope, added to `times`",
                         .source = "measured: 1e-9 or less where backward is right"};
constexpr Setting kTimes{.name = "times",
                         .value = 16,
                         .low = 1,
                         .high = 1e9,
                         .unit = "times the uncertainty of the slope",
                         .meaning = "difference between backward and slope, added to `error`",
                         .source = "own reasoning: two measurements of the slope bound it"};

// In every trial: a function that is right in one direction of its inputs is not told.
bool IsWrong(const Settings& settings, const BackwardErrors::Function& function) {
  return std::ranges::all_of(function.trials, [&](const BackwardErrors::Trial& trial) {
    return trial.error > settings[kError] + settings[kTimes] * trial.rounding;
  });
}

Finding FindingOf(const Settings& settings, const BackwardErrors::Function& function) {
  const BackwardErrors::Trial& first = function.trials.front();
  return {
      .severity = Severity::kWarning,
      .message = StrCat("The backward of ", function.name, " gives ", Short(first.ratio),
                        " times the slope of its forward at step ", first.step,
                        "; the slope is known to ", Short(first.rounding), " of itself."),
      .places = {{.thing = function.name, .file = function.site.file, .line = function.site.line}},
      .first_step = first.step,
      .last_step = function.trials.back().step,
      .count = static_cast<int64_t>(function.trials.size()),
      .measured = first.error,
      .bound = settings[kError] + settings[kTimes] * first.rounding};
}

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kTrials, BackwardErrors>& tried) {
  if (tried->functions.empty()) return absl::FailedPreconditionError(tried->untried);
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(tried->functions.size()), "function")};
  for (const BackwardErrors::Function& function : tried->functions) {
    if (IsWrong(settings, function)) verdict.findings.push_back(FindingOf(settings, function));
  }
  return verdict;
}

// A function whose backward gives these multiples of the slope, one a trial.
Evidence Tried(const std::vector<double>& ratios, double rounding) {
  RunBuilder trials;
  for (const double ratio : ratios) {
    trials.Quantity(Quantity::kBackwardError, "function", "Swish", std::abs(ratio - 1), rounding);
    trials.Quantity(Quantity::kBackwardRatio, "function", "Swish", ratio);
    AddStep(trials, {.held = {}});
  }
  Evidence evidence;
  evidence.Add(kPlain, TwoLayers().Build());
  evidence.Add(kTrials, trials.Build());
  return evidence;
}

}  // namespace

Check FailedGradcheck() {
  return {
      .id = "gradients/failed_gradcheck",
      .promise = "The backward of a custom autograd function gives the slope of its forward.",
      .why =
          "Every layer before it learns from another function than the one that runs: slower, to "
          "another place, or not at all.",
      .method =
          "The function is called in double precision on the inputs of a training step moved to "
          "and fro along one direction; the difference is compared with what backward gives for "
          "it.",
      .fix =
          "Derive the backward again, or let autograd do it; torch.autograd.gradcheck says where.",
      .limits =
          "Needs --deep and a function that works in double precision. Silent where forward hands "
          "its input on, is flat or gives few values: there a backward may mean to be no slope. "
          "One that is meant to approximate a smooth forward's slope is told too. Measured: a "
          "backward that is off by 1.1e-3 of the slope is still caught.",
      .sources = {"PyTorch: torch.autograd.gradcheck", "own reasoning: central differences"},
      .covers = {"N09"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kError, kTimes},
      .judgement = Reads<&Judge>(),
      .examples = {{"as exact as the slope is known", Expect::kClean,
                    [] {
                      return Tried({1 + 1e-9, 1 - 1e-9}, 1e-9);
                    }},
                   {"a slope that is hardly known", Expect::kClean,
                    [] {
                      return Tried({2, 2}, 0.1);
                    }},
                   {"right in one direction", Expect::kClean,
                    [] {
                      return Tried({2, 1}, 1e-9);
                    }},
                   {"off by one in two hundred", Expect::kFaulty,
                    [] {
                      return Tried({1.005, 1.005}, 1e-9);
                    }},
                   {"of the other sign", Expect::kFaulty,
                    [] {
                      return Tried({-1, -1}, 1e-9);
                    }}},
  };
}

}  // namespace dlcheck::gradients
