#include "checks/signals/optimizer/lost_updates.h"
#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/step_finding.h"
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
    .meaning = "largest share of elements that the rule changes but the step does not",
    .source =
        "measured on digits in pure bf16 against fp32: six of 13 recipes with at least 0.79 lose "
        "0.02 to 0.57 in accuracy; the others, with at most 0.75, lose at most 0.011"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const LostUpdateCounts& lost) {
  if (lost.parameters.empty()) {
    return absl::FailedPreconditionError("no update of a weight in bf16 or fp16 was recorded");
  }
  if (!lost.rounding.empty() && lost.rounding != "nearest") {
    return absl::FailedPreconditionError(
        StrCat("the program declares its rounding as '", lost.rounding, "'"));
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
      StrCat("Rounding lost most updates of ", Counted(weights, "weight"), " in low precision (",
             Listed(names), "): ", Short(100 * share),
             " % of the elements that the optimizer's rule changes stayed unchanged (median of ",
             Counted(count, "sampled step"), ")."),
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

// One weight per step, as in a large model: the large one is recorded once in eight steps.
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
      .title = "Low-precision weights lose most updates",
      .promise = "Most weight elements that the optimizer's rule changes really change.",
      .why =
          "bf16 keeps eight bits, so an update below half a unit in the last place has no effect. "
          "Late in training no weight changes any more.",
      .method =
          "Recomputes each update in float64. For bf16 and fp16 weights, computes the share of "
          "elements that the rule changes but the step leaves unchanged. Takes the median over "
          "sampled steps, weighted by size. Higher-precision copies replace the weights.",
      .fix =
          "Keep fp32 master weights in the optimizer, or use stochastic rounding or compensated "
          "(Kahan) summation. A larger learning rate hides the loss only at first.",
      .limits = {.needs = "Weights in bf16 or fp16, and an optimizer whose rule is known.",
                 .silent_when = "rounding = stochastic or compensated is declared. Both rounding "
                                "modes correctly leave most elements unchanged.",
                 .severity = "",
                 .blind_spots = "",
                 .sensitivity =
                     "On a digits task in bf16, losing at least 0.79 of the updates reduced "
                     "accuracy by 0.02 to 0.57. Losing at most 0.75 reduced it by at most 0.011."},
      .python = {.bad = R"(model = model.to(torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
loss = criterion(model(x), y))",
                 .good =
                     R"(optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)  # fp32 weights
with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = criterion(model(x), y))"},
      .cpp = {},
      .sources = {"Micikevicius et al. 2018, Mixed Precision Training: master weights",
                  "Zamirai et al. 2020, Revisiting BFloat16 Training"},
      .covers = {"no-master-weights", "rounded-away-updates"},
      .explains = {"learnability/no_better_than_constant"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kStep,
      .also_at = {Event::kOptimizerBuilt},
      .settings = {kEnoughSteps, kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"three quarters of the elements stay unchanged", Expect::kClean,
                    [] { return Losing(0.75, "bfloat16"); }},
                   {"more than three quarters stay unchanged", Expect::kWarning,
                    [] { return Losing(0.78, "bfloat16"); }},
                   {"a small weight that is recorded more often changes", Expect::kWarning,
                    [] { return InTurns(0.1, 0.95); }},
                   {"a small weight that is recorded more often stays unchanged", Expect::kClean,
                    [] { return InTurns(0.95, 0.6); }}},
  };
}

}  // namespace dlcheck::precision
