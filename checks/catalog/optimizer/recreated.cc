#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizer/rebuilding.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kOptimizers{
    .name = "optimizers",
    .value = 16,
    .low = 2,
    .high = 1e6,
    .unit = "optimizers",
    .meaning = "fewest optimizers in a row with one or two steps each",
    .source = "own reasoning: folds, stages and studies make more steps per optimizer"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const Rebuilding& rebuilding) {
  Verdict verdict{.findings = {}, .judged = Counted(rebuilding.judged, "sampled step")};
  const auto count = static_cast<double>(rebuilding.optimizers);
  if (count < settings[kOptimizers]) return verdict;
  std::vector<Place> places = PlacesOf(*rebuilding.trace, rebuilding.site);
  places.push_back({.thing = rebuilding.first_parameter, .file = ""});
  verdict.findings.push_back(
      {.severity = Severity::kError,
       .message = StrCat(WithCommas(rebuilding.optimizers), " ", rebuilding.type,
                         " optimizers over the same parameters (the first is ",
                         rebuilding.first_parameter, ") made ", Counted(rebuilding.steps, "step"),
                         " one after the other from step ", rebuilding.first_step,
                         " on. Each optimizer started without the state of the previous one."),
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
      .title = "The optimizer is recreated at every step",
      .promise = "An optimizer that keeps state lives as long as the parameters that it trains.",
      .why =
          "Moments and step counts restart at zero at every step. Adam then updates every weight "
          "by the full learning rate along one batch's gradient sign, and momentum has no effect.",
      .method =
          "Compares optimizers in the order of their steps. Sixteen stateful optimizers in a row "
          "made one or two steps each. All have the same class, first parameter with a gradient, "
          "and number of parameters.",
      .fix = "Build the optimizer once, before the loop.",
      .limits = {.needs = "An optimizer class that keeps state.",
                 .silent_when =
                     "Each optimizer makes three or more steps, as in cross-validation folds and "
                     "hyperparameter studies. Parameters differ each time, or state is loaded in "
                     "between, as in meta-learning. LBFGS is not judged.",
                 .severity = "",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad())",
                 .good = R"(optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad())"},
      .cpp = {},
      .sources = {"PyTorch documentation of torch.optim", "own reasoning"},
      .covers = {"optimizer-state-reset"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kOptimizers},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"three steps with each optimizer", Expect::kClean, [] { return InARow({.steps = 3}); }},
           {"one step with each optimizer", Expect::kError, [] { return InARow({}); }},
           {"two steps with each optimizer", Expect::kError, [] { return InARow({.steps = 2}); }},
           {"optimizers without state", Expect::kClean, [] { return InARow({.stateful = false}); }},
           {"over other parameters each time", Expect::kClean,
            [] { return InARow({.same_parameters = false}); }},
           {"with state loaded in between", Expect::kClean,
            [] { return InARow({.loads = true}); }}},
  };
}

}  // namespace dlcheck::optimizer
