#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizer/rebuilding.h"
#include "checks/signals/optimizer/replacements.h"

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

constexpr Setting kReplacements{
    .name = "replacements",
    .value = 3,
    .low = 1,
    .high = 1e6,
    .unit = "optimizers",
    .meaning = "fewest optimizers in a row that each replaced one like it",
    .source = "own reasoning: one or two are a new stage of the training"};

Finding Replaced(const Settings& settings, const Replacements::Chain& chain, const Trace& trace) {
  std::vector<Place> places = PlacesOf(trace, chain.site);
  if (!chain.first_parameter.empty()) {
    places.push_back({.thing = chain.first_parameter, .file = ""});
  }
  const auto count = static_cast<int64_t>(chain.first_steps.size());
  const bool few = static_cast<double>(count) < settings[kReplacements];
  return {.severity = few ? Severity::kNote : Severity::kWarning,
          .message = StrCat(Counted(count, chain.type + " optimizer"),
                            " replaced one over the same parameters, the first at step ",
                            chain.first_steps.front(),
                            ". Each optimizer started without the state of the previous one."),
          .places = std::move(places),
          .first_step = chain.first_steps.front(),
          .last_step = chain.first_steps.back(),
          .count = count,
          .measured = static_cast<double>(count),
          .bound = settings[kReplacements]};
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Rebuilding& rebuilding,
                              const IfSeen<Replacements>& replacements) {
  Verdict verdict{.findings = {}, .judged = Counted(rebuilding.judged, "sampled step")};
  const auto count = static_cast<double>(rebuilding.optimizers);
  if (count < settings[kOptimizers]) {
    if (!replacements) return verdict;
    for (const Replacements::Chain& chain : replacements->chains) {
      const auto length = static_cast<double>(chain.first_steps.size());
      // Few are a new stage of the training, unless one line builds them all: then it is a loop.
      if (length < settings[kReplacements] && chain.built == 0) continue;
      if (chain.type == "LBFGS") continue;
      verdict.findings.push_back(Replaced(settings, chain, *rebuilding.trace));
    }
    return verdict;
  }
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
  int optimizers = 16;
  int steps = 1;          // of each optimizer
  bool replaces = false;  // as the probe says
  bool stateful = true;
  bool same_parameters = true;
  bool loads = false;  // state, before each
  int line = 0;        // that built each; 0 if not known
};

// Optimizers, one after the other.
Evidence InARow(const Row& values) {
  RunBuilder run = TwoLayers();
  for (int i = 0; i < values.optimizers; ++i) {
    run.Ordinal(i).Attribute("optimizer", "", "type", "Adam");
    run.Attribute("optimizer", "", "stateful", values.stateful ? "1" : "0");
    run.Attribute("optimizer", "", "parameters", "2");
    run.Attribute("optimizer", "", "first_parameter", "trunk.weight");
    if (values.replaces && i > 0) {
      run.Attribute("optimizer", "", "replaces", StrCat(i - 1));
      run.Attribute("optimizer", "", "first_step", StrCat(i * values.steps));
    }
    if (values.line > 0) {
      run.Line(values.line).Event(Event::kOptimizerBuilt, 0, "optimizer", "").Line(0);
    }
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
      .title = "The optimizer is recreated during training",
      .promise = "An optimizer that keeps state lives as long as the parameters that it trains.",
      .why =
          "Moments and step counts restart at zero each time. Adam then updates every weight "
          "by the full learning rate along one batch's gradient sign, and momentum has no effect.",
      .method =
          "Compares optimizers in the order of their steps. Error: sixteen stateful optimizers in "
          "a row made one or two steps each. Warning: four or more in a row were of the same class "
          "and had the same parameters, and each began with empty state. Note: two or three did so "
          "that the same line built.",
      .fix =
          "Build the optimizer once, before the loop. If each fold is to start from the beginning, "
          "build the model again, too.",
      .limits = {.needs = "An optimizer class that keeps state.",
                 .silent_when =
                     "Parameters differ each time, as in cross-validation folds and "
                     "hyperparameter studies. Weights or state are loaded in between, as in "
                     "meta-learning. LBFGS is not judged.",
                 .severity =
                     "Error for one or two steps per optimizer. Else a warning; a note for few.",
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
      .cpp = {.bad = R"(for (auto& batch : *loader) {
  torch::optim::Adam optimizer(model->parameters());
  criterion(model->forward(batch.data), batch.target).backward();
  optimizer.step();
  optimizer.zero_grad();
})",
              .good = R"(torch::optim::Adam optimizer(model->parameters());
for (auto& batch : *loader) {
  criterion(model->forward(batch.data), batch.target).backward();
  optimizer.step();
  optimizer.zero_grad();
})"},
      .sources = {"PyTorch documentation of torch.optim", "own reasoning"},
      .covers = {"optimizer-state-reset"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kOptimizerBuilt,
      .settings = {kOptimizers, kReplacements},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"three steps with each optimizer", Expect::kClean, [] { return InARow({.steps = 3}); }},
           {"nine steps with each, three in all", Expect::kClean,
            [] { return InARow({.optimizers = 3, .steps = 9, .replaces = true}); }},
           {"nine steps with each, three in all, and one line builds them", Expect::kNote,
            [] { return InARow({.optimizers = 3, .steps = 9, .replaces = true, .line = 7}); }},
           {"nine steps with each, four in all", Expect::kWarning,
            [] { return InARow({.optimizers = 4, .steps = 9, .replaces = true}); }},
           {"the same, with weights loaded in between", Expect::kClean,
            [] { return InARow({.optimizers = 4, .steps = 9, .replaces = true, .loads = true}); }},
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
