#include "checks/signals/lost_updates.h"
#include "checks/catalog/step_finding.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::precision {
namespace {

constexpr Setting kShare{
    .name = "share",
    .value = 0.75,
    .low = 0.01,
    .high = 1,
    .unit = "1",
    .meaning = "share of elements that the rule moves and the step leaves",
    .source =
        "measured on the digits in pure bf16 against fp32: the six of 13 recipes from 0.79 on lose "
        "0.02 to 0.57 in accuracy; the others, up to 0.75, at most 0.011"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const LostUpdateCounts& lost) {
  if (lost.parameters.empty()) {
    return absl::FailedPreconditionError("no weight in bf16 or fp16 was seen to be updated");
  }
  if (!lost.rounding.empty() && lost.rounding != "nearest") {
    return absl::FailedPreconditionError(
        StrCat("the program declares its rounding to be '", lost.rounding, "'"));
  }
  const auto weights = static_cast<int64_t>(lost.parameters.size());
  const std::vector<int64_t> steps(lost.steps.begin(), lost.steps.end());
  const auto count = static_cast<int64_t>(steps.size());
  Verdict verdict{.findings = {},
                  .judged = StrCat(Counted(weights, "parameter"), " in low precision, ",
                                   Counted(count, "step"))};
  const double share = lost.Share();
  if (static_cast<double>(count) < settings[kEnoughSteps] || share <= settings[kShare]) {
    return verdict;
  }
  std::vector<std::string> names;
  std::vector<Place> places;
  for (const LostUpdateCounts::Parameter& parameter : lost.parameters) {
    names.push_back(parameter.name);
    places.push_back({.thing = parameter.name, .file = ""});
  }
  verdict.findings.push_back(FindingOver(
      steps, Severity::kWarning,
      StrCat("Most updates are lost to rounding: of the elements that the optimizer's rule moves, ",
             Short(100 * share), " % stayed as they were in the median of ",
             Counted(count, "sampled step"), ", in ", Counted(weights, "weight"),
             " in low precision (", Listed(names), ")."),
      std::move(places), share, settings[kShare]));
  return verdict;
}

Evidence Losing(double share, std::string_view type) {
  RunBuilder run = TwoLayers();
  for (const std::string_view name : {"trunk.weight", "head.weight"}) {
    run.Attribute("parameter", name, "dtype", type);
  }
  for (int step = 0; step < 8; ++step) {
    BeginStep(run);
    run.Quantity(Quantity::kLostUpdates, "parameter", "trunk.weight", share, 2048);
    run.Quantity(Quantity::kLostUpdates, "parameter", "head.weight", share, 640);
    EndStep(run);
  }
  return PlainOnly(run);
}

// One weight a step, as in a large model: in each turn of eight steps the large one has one.
Evidence InTurns(double small, double large) {
  RunBuilder run = TwoLayers();
  for (const std::string_view name : {"trunk.weight", "head.weight"}) {
    run.Attribute("parameter", name, "dtype", "bfloat16");
  }
  for (int step = 0; step < 32; ++step) {
    const bool turn = step % 8 == 0;
    BeginStep(run);
    run.Quantity(Quantity::kLostUpdates, "parameter", turn ? "trunk.weight" : "head.weight",
                 turn ? large : small, turn ? 2048 : 64);
    EndStep(run);
  }
  return PlainOnly(run);
}

}  // namespace

Check LostUpdates() {
  return {
      .id = "precision/lost_updates",
      .promise = "Most weights that the optimizer's rule moves really move.",
      .why =
          "bf16 keeps eight bits: an update below half a unit in the last place leaves the weight "
          "as it was, again and again, and late in training nothing moves any more.",
      .method =
          "Each update is worked out again in float64; the share of elements that it moves and "
          "that the step left as they were, of each weight in bf16 or fp16 in the median of the "
          "sampled steps that saw it, and of all of them by their sizes. Copies in higher "
          "precision "
          "count in the place of the weights.",
      .fix =
          "Keep fp32 copies of the weights in the optimizer, or use stochastic rounding or a "
          "compensated sum; a larger rate hides it only at first.",
      .limits =
          "Stochastic rounding and compensated sums leave most elements too, and rightly: declare "
          "rounding = stochastic or compensated. Optimizers whose rule is not told are not judged.",
      .sources = {"Micikevicius et al. 2018, Mixed Precision Training: master weights",
                  "Zamirai et al. 2020, Revisiting BFloat16 Training"},
      .covers = {"A08", "O10"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kEnoughSteps, kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"three quarters of the elements stay", Expect::kClean,
                    [] { return Losing(0.75, "bfloat16"); }},
                   {"more than three quarters stay", Expect::kFaulty,
                    [] { return Losing(0.78, "bfloat16"); }},
                   {"a small weight that is seen more often moves", Expect::kFaulty,
                    [] { return InTurns(0.1, 0.95); }},
                   {"a small weight that is seen more often does not", Expect::kClean,
                    [] { return InTurns(0.95, 0.6); }}},
  };
}

}  // namespace dlcheck::precision
