#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/reference_errors.h"

namespace dlcheck::numerics {
namespace {

constexpr Setting kTimes{
    .name = "times",
    .value = 8,
    .low = 1,
    .high = 1e9,
    .unit = "times what rounding explains",
    .meaning = "distance from the formula that counts",
    .source =
        "measured on the CPU: 0.8 or less with torch's own functions in float32 and bfloat16, "
        "1e5 with a wrong scale"};

bool IsOff(const Settings& settings, const ReferenceErrors::Trial& trial) {
  return trial.error > settings[kTimes] * trial.rounding;
}

Finding FindingOf(const Settings& settings, const ReferenceErrors::Function& function,
                  int64_t count) {
  const auto first = std::ranges::find_if(
      function.trials, [&](const ReferenceErrors::Trial& trial) { return IsOff(settings, trial); });
  const std::string stand_in =
      function.stood_in_by.empty() ? "" : StrCat(", for which ", function.stood_in_by, " stands,");
  return {
      .severity = Severity::kWarning,
      .message =
          StrCat(function.name, stand_in, " or its gradient lies ", Short(first->error),
                 " of the norm from what its formula gives at step ", first->step,
                 ", where rounding explains ", Short(first->rounding), "; so it was in ", count,
                 " of ", Counted(static_cast<int64_t>(function.trials.size()), "call"), "."),
      .places = {{.thing = function.name, .file = function.site.file, .line = function.site.line}},
      .first_step = first->step,
      .last_step = function.trials.back().step,
      .count = count,
      .measured = first->error,
      .bound = settings[kTimes] * first->rounding};
}

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kTrials, ReferenceErrors>& tried) {
  if (tried->functions.empty()) return absl::FailedPreconditionError(tried->untried);
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(tried->functions.size()), "function")};
  for (const ReferenceErrors::Function& function : tried->functions) {
    const auto off = std::ranges::count_if(
        function.trials,
        [&](const ReferenceErrors::Trial& trial) { return IsOff(settings, trial); });
    if (2 * off <= static_cast<int64_t>(function.trials.size())) continue;
    verdict.findings.push_back(FindingOf(settings, function, off));
  }
  return verdict;
}

// Three calls of a function this far from its formula, where rounding explains 1e-6.
Evidence Called(double error, double in_last) {
  RunBuilder trial;
  for (int step = 0; step < 3; ++step) {
    AddStep(trial, {.held = {}});
    trial.Quantity(Quantity::kReferenceError, "function", "cross_entropy",
                   step == 2 ? in_last : error, 1e-6);
  }
  Evidence evidence;
  evidence.Add(kPlain, TwoLayers().Build());
  evidence.Add(kTrials, trial.Build());
  return evidence;
}

}  // namespace

Check WrongReimplementation() {
  return {
      .id = "numerics/wrong_reimplementation",
      .promise = "What goes by the name of a function of torch gives what its formula gives.",
      .why =
          "A faster version that forgets a mask, a scale or a part of the gradient trains, and "
          "trains another model.",
      .method =
          "The first calls of scaled_dot_product_attention and cross_entropy in "
          "torch.nn.functional "
          "are worked out again, forward and backward, by whatever goes by that name and by the "
          "written-out formula in float64. The distance is held against that of the same formula "
          "in "
          "the precision of the inputs, and for inputs moved by their rounding.",
      .fix =
          "Call torch's own function, or compare yours with it in float64 with "
          "torch.autograd.gradcheck: scale, mask, the divisor of a mean, every term of the "
          "backward.",
      .limits =
          "Needs --deep. Of functions called by a name that the program imported before it put "
          "another in its place, nothing is seen. In fp16 and bf16 only what is grossly wrong "
          "shows. Calls with more than a million elements are passed over. An approximation that "
          "is "
          "meant is told too.",
      .sources = {"PyTorch: scaled_dot_product_attention, cross_entropy, their formulas",
                  "own reasoning: exact up to rounding"},
      .covers = {"functions"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {kTimes},
      .judgement = Reads<&Judge>(),
      .examples = {{"as far as rounding explains", Expect::kClean,
                    [] { return Called(7e-6, 7e-6); }},
                   {"once further", Expect::kClean, [] { return Called(7e-6, 9e-6); }},
                   {"further", Expect::kFaulty, [] { return Called(9e-6, 9e-6); }}},
  };
}

}  // namespace dlcheck::numerics
