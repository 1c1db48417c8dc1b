#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients/backward_errors.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kError{
    .name = "error",
    .value = 1e-3,
    .low = 0,
    .high = 10,
    .unit = "of the derivative",
    .meaning = "allowed difference between backward and finite difference, added to `times`",
    .source = "measured: at most 1e-9 for a correct backward"};
constexpr Setting kTimes{
    .name = "times",
    .value = 16,
    .low = 1,
    .high = 1e9,
    .unit = "times the uncertainty of the finite difference",
    .meaning = "allowed difference between backward and finite difference, added to `error`",
    .source = "own reasoning: two finite differences bound the uncertainty"};

// In every test: a function that is right along one direction is not reported.
bool IsWrong(const Settings& settings, const BackwardErrors::Function& function) {
  return std::ranges::all_of(function.trials, [&](const BackwardErrors::Trial& trial) {
    return trial.error > settings[kError] + settings[kTimes] * trial.rounding;
  });
}

Finding FindingOf(const Settings& settings, const BackwardErrors::Function& function) {
  const BackwardErrors::Trial& first = function.trials.front();
  return {
      .severity = Severity::kWarning,
      .message =
          StrCat("The backward of ", function.name, " gave ", ShortApart(first.ratio, 1).first,
                 " times the derivative of its forward at step ", first.step,
                 " (relative uncertainty ", Short(first.rounding), ")."),
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

// A function whose backward gives these multiples of the derivative, one per test.
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
      .title = "A custom backward() computes wrong gradients",
      .promise = "The backward of a custom autograd function matches its forward.",
      .why =
          "Every earlier layer learns from the derivative of another function. The layers learn "
          "more slowly, reach another result, or do not learn.",
      .method =
          "Calls the function in double precision on the inputs of a training step, shifted both "
          "ways along one direction. Compares the finite difference with the derivative that "
          "backward gives.",
      .fix =
          "Derive the backward again, or let autograd compute it. torch.autograd.gradcheck shows "
          "the wrong entry.",
      .limits = {.needs =
                     "--deep, and a custom torch.autograd.Function that works in double precision.",
                 .silent_when = "The forward returns its input, is flat, or gives few distinct "
                                "values: such a backward may differ on purpose.",
                 .severity = "Always a warning, also for an intentional approximation of a smooth "
                             "forward's derivative.",
                 .blind_spots = "",
                 .sensitivity =
                     "Measured: finds a backward that is off by 1.1e-3 of the derivative."},
      .python = {.bad = R"(class Square(torch.autograd.Function):
    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return grad * x)",
                 .good = R"(class Square(torch.autograd.Function):
    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return grad * 2 * x)"},
      .cpp = {},
      .sources = {"PyTorch: torch.autograd.gradcheck", "own reasoning: central differences"},
      .covers = {"wrong-custom-backward"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kError, kTimes},
      .judgement = Reads<&Judge>(),
      .examples = {{"a correct backward", Expect::kClean,
                    [] {
                      return Tried({1 + 1e-9, 1 - 1e-9}, 1e-9);
                    }},
                   {"an uncertain finite difference", Expect::kClean,
                    [] {
                      return Tried({2, 2}, 0.1);
                    }},
                   {"a backward that is right along one direction", Expect::kClean,
                    [] {
                      return Tried({2, 1}, 1e-9);
                    }},
                   {"a backward that is 0.5 % off", Expect::kWarning,
                    [] {
                      return Tried({1.005, 1.005}, 1e-9);
                    }},
                   {"a backward with the wrong sign", Expect::kWarning,
                    [] {
                      return Tried({-1, -1}, 1e-9);
                    }}},
  };
}

}  // namespace dlcheck::gradients
