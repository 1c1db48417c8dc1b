#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/model/reference_errors.h"

namespace dlcheck::numerics {
namespace {

constexpr Setting kTimes{.name = "times",
                         .value = 8,
                         .low = 1,
                         .high = 1e9,
                         .unit = "times what rounding explains",
                         .meaning = "largest allowed distance from the formula",
                         .source =
                             "measured on the CPU: at most 0.8 for torch's own functions in "
                             "float32 and bfloat16, 1e5 for a wrong scale"};

bool IsOff(const Settings& settings, const ReferenceErrors::Trial& trial) {
  return trial.error > settings[kTimes] * trial.rounding;
}

Finding FindingOf(const Settings& settings, const ReferenceErrors::Function& function,
                  int64_t count) {
  const auto first = std::ranges::find_if(
      function.trials, [&](const ReferenceErrors::Trial& trial) { return IsOff(settings, trial); });
  const std::string stand_in =
      function.stood_in_by.empty() ? "" : StrCat(" (replaced by ", function.stood_in_by, ")");
  return {
      .severity = Severity::kWarning,
      .message =
          StrCat(function.name, stand_in, " or its gradient differed from the formula by ",
                 Short(first->error), " of the norm at step ", first->step, " (rounding explains ",
                 Short(first->rounding), "), and exceeded the bound in ", count, " of ",
                 Counted(static_cast<int64_t>(function.trials.size()), "call"), "."),
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

// Three calls of a function that differs from its formula by `error`; rounding explains 1e-6.
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
      .title = "A replaced torch function computes other results",
      .promise = "A reimplemented torch function matches the original's formula.",
      .why =
          "A faster version that misses a mask, a scale or a gradient term trains a different "
          "model.",
      .method =
          "Recomputes the first calls of scaled_dot_product_attention and cross_entropy in "
          "torch.nn.functional, forward and backward. Compares the function under this name with "
          "the explicit formula in float64. The allowed error is that of the formula in the "
          "inputs' precision, and for inputs shifted by rounding.",
      .fix =
          "Call torch's own function. Or compare both functions in float64: scale, mask, divisor "
          "of a mean, and every backward term (torch.autograd.gradcheck).",
      .limits = {.needs = "--deep, and calls of scaled_dot_product_attention or cross_entropy.",
                 .silent_when = "A call has more than a million elements.",
                 .severity = "Always a warning, also for an intentional approximation.",
                 .blind_spots = "Misses calls through names imported before the function was "
                                "replaced. In fp16 and bf16 only gross errors show.",
                 .sensitivity = ""},
      .python = {.bad = R"(def attention(q, k, v, attn_mask=None, **kwargs):
    scores = q @ k.transpose(-2, -1)  # no scale, no mask
    return torch.softmax(scores, dim=-1) @ v

F.scaled_dot_product_attention = attention)",
                 .good = R"(def attention(q, k, v, attn_mask=0.0, **kwargs):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    return torch.softmax(scores + attn_mask, dim=-1) @ v

F.scaled_dot_product_attention = attention)"},
      .cpp = {},
      .sources = {"PyTorch: scaled_dot_product_attention, cross_entropy, their formulas",
                  "own reasoning: exact up to rounding"},
      .covers = {"deviating-reimplementation"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {kTimes},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"a distance that rounding explains", Expect::kClean, [] { return Called(7e-6, 7e-6); }},
           {"a larger distance in one call", Expect::kClean, [] { return Called(7e-6, 9e-6); }},
           {"a larger distance in all calls", Expect::kWarning, [] { return Called(9e-6, 9e-6); }}},
  };
}

}  // namespace dlcheck::numerics
