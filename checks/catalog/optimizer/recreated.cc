#include "checks/catalog/example_runs.h"
#include "checks/catalog/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/rebuilding.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kOptimizers{
    .name = "optimizers",
    .value = 16,
    .low = 2,
    .high = 1e6,
    .unit = "optimizers",
    .meaning = "fewest in a row, each of one or two steps, that a finding rests on",
    .source = "own reasoning: folds, stages and studies make more steps each"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const Rebuilding& rebuilding) {
  Verdict verdict{.findings = {}, .judged = Counted(rebuilding.judged, "sampled step")};
  const auto count = static_cast<double>(rebuilding.optimizers);
  if (count < settings[kOptimizers]) return verdict;
  std::vector<Place> places = PlacesOf(*rebuilding.trace, rebuilding.site);
  places.push_back({.thing = rebuilding.first_parameter, .file = ""});
  verdict.findings.push_back(
      {.severity = Severity::kError,
       .message =
           StrCat(WithCommas(rebuilding.optimizers), " optimizers of type ", rebuilding.type,
                  " over the same parameters (the first is ", rebuilding.first_parameter, ") made ",
                  Counted(rebuilding.steps, "step"), " one after the other, from step ",
                  rebuilding.first_step, " on: each began without what the one before had kept."),
       .places = std::move(places),
       .first_step = rebuilding.first_step,
       .last_step = rebuilding.last_step,
       .count = rebuilding.optimizers,
       .measured = count,
       .bound = settings[kOptimizers]});
  return verdict;
}

struct Row {
  int steps = 1;  // of each optimizer
  bool stateful = true;
  bool same_parameters = true;
  bool loads = false;  // state, before each
};

// Sixteen optimizers, one after the other.
Evidence InARow(const Row& values) {
  RunBuilder run = TwoLayers();
  for (int i = 0; i < 16; ++i) {
    run.Ordinal(i).Attribute("optimizer", "", "type", "Adam");
    run.Attribute("optimizer", "", "stateful", values.stateful ? "1" : "0");
    run.Attribute("optimizer", "", "parameters", "2");
    if (values.loads) run.Event(Event::kLoaded, 0, "model", "Net");
    for (int step = 0; step < values.steps; ++step) {
      run.Event(Event::kBackward, 0, "loss", "cross_entropy");
      run.Ordinal(values.same_parameters ? 0 : i);
      run.Quantity(Quantity::kGradientNorm, "parameter", "trunk.weight", 0.1);
      run.Ordinal(i).Event(Event::kStep, 0, "optimizer", "");
    }
  }
  return PlainOnly(run);
}

}  // namespace

Check Recreated() {
  return {
      .id = "optimizer/recreated",
      .promise = "An optimizer that keeps state lives as long as what it trains.",
      .why =
          "Moments and step counts begin at zero at every step: Adam then moves every weight by "
          "the whole rate in the direction of one batch's sign, and momentum does nothing.",
      .method =
          "Optimizers in the order of their steps: in a row of sixteen, each of a kind that keeps "
          "state made one or two steps, and all had the same class, the same first parameter with "
          "a "
          "gradient, and the same number of parameters.",
      .fix = "Build the optimizer once, before the loop.",
      .limits =
          "Folds and studies make more steps with each; inner loops of meta-learning have other "
          "parameters each time, or load state in between; all are clean. LBFGS is not judged.",
      .sources = {"PyTorch documentation of torch.optim", "own reasoning"},
      .covers = {"O11"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kOptimizers},
      .judgement = Reads<&Judge>(),
      .examples = {{"three steps with each", Expect::kClean, [] { return InARow({.steps = 3}); }},
                   {"one step with each", Expect::kFaulty, [] { return InARow({}); }},
                   {"two steps with each", Expect::kFaulty, [] { return InARow({.steps = 2}); }},
                   {"without state", Expect::kClean, [] { return InARow({.stateful = false}); }},
                   {"over other parameters each time", Expect::kClean,
                    [] { return InARow({.same_parameters = false}); }},
                   {"with state loaded in between", Expect::kClean,
                    [] { return InARow({.loads = true}); }}},
  };
}

}  // namespace dlcheck::optimizer
