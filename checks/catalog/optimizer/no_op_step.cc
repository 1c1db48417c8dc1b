#include "checks/signals/optimizer/motion.h"

#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest measured steps of a parameter for a finding",
                         .source = "own reasoning: none of these steps may change the parameter"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const Motion& all) {
  std::vector<const Motion::Parameter*> unmoved;
  int64_t judged = 0;
  for (const Motion::Parameter& parameter : all.parameters) {
    if (static_cast<double>(parameter.judged) < settings[kSteps]) continue;
    ++judged;
    if (!parameter.moved) unmoved.push_back(&parameter);
  }
  Verdict verdict{.findings = {}, .judged = Counted(judged, "parameter")};
  if (unmoved.empty()) return verdict;
  std::vector<std::string> names;
  std::vector<Place> places;
  const Motion::Parameter& first = *unmoved.front();
  int64_t first_step = first.first_step, last_step = first.last_step;
  for (const Motion::Parameter* parameter : unmoved) {
    names.push_back(parameter->name);
    places.push_back({.thing = parameter->name, .file = ""});
    first_step = std::min(first_step, parameter->first_step);
    last_step = std::max(last_step, parameter->last_step);
  }
  const auto count = static_cast<int64_t>(unmoved.size());
  verdict.findings.push_back(
      {.severity = count == judged ? Severity::kError : Severity::kWarning,
       .message = StrCat(count, " of ", Counted(judged, "parameter"), " (", Listed(names),
                         ") had a gradient and a learning rate but did not change in ",
                         first.judged, " or more measured steps. At step ", first.last_step, ", ",
                         first.name, " had gradient norm ", Short(first.gradient),
                         " and learning rate ", Short(first.rate), "."),
       .places = std::move(places),
       .first_step = first_step,
       .last_step = last_step,
       .count = count,
       .measured = 0,
       .bound = 0});
  return verdict;
}

struct Moves {
  double trunk = 0.01, head = 0.01;  // norms of updates
  double trunk_weight = 8;
  std::string_view trunk_dtype = "float32";
};

Evidence Moving(const Moves& moves) {
  RunBuilder run = TwoLayers();
  run.Attribute("optimizer", "optimizer#0", "type", "SGD");
  run.Attribute("parameter", "trunk.weight", "dtype", moves.trunk_dtype);
  for (int step = 0; step < 12; ++step) {
    run.Quantity(Quantity::kWeightNorm, "parameter", "trunk.weight", moves.trunk_weight);
    run.Quantity(Quantity::kWeightNorm, "parameter", "head.weight", 8);
    run.Quantity(Quantity::kUpdateNorm, "parameter", "trunk.weight", moves.trunk);
    run.Quantity(Quantity::kUpdateNorm, "parameter", "head.weight", moves.head);
    run.Quantity(Quantity::kLearningRate, "group", "optimizer#0/group#0", 0.1);
    AddStep(run, {.held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check NoOpStep() {
  return {
      .id = "optimizer/no_op_step",
      .title = "optimizer.step() changes no weights",
      .promise =
          "An optimizer step changes every parameter that has a gradient and a nonzero learning "
          "rate.",
      .why = "The optimizer runs, but its updates have no effect. The model stays untrained.",
      .method =
          "Measures the norm of each parameter's change in every measured step. Gradient and "
          "learning rate are large enough that rounding cannot hide the update, yet the change is "
          "always exactly zero.",
      .fix =
          "Look for a step that updates copies: non-contiguous parameters, a stale compiled step, "
          "or weights that a wrapper writes back.",
      .limits =
          {.needs =
               "SGD or an adaptive optimizer of torch.optim, with float32 or float64 parameters.",
           .silent_when = "Lower precision is judged by precision/lost_updates.",
           .severity = "Error if no parameter changed; otherwise warning.",
           .blind_spots = "",
           .sensitivity = ""},
      .python = {.bad = R"(@torch.no_grad()
def step(self):
    for group in self.param_groups:
        for p in group["params"]:
            p = p - group["lr"] * p.grad  # a new tensor)",
                 .good = R"(@torch.no_grad()
def step(self):
    for group in self.param_groups:
        for p in group["params"]:
            p.sub_(group["lr"] * p.grad))"},
      .cpp = {.bad = R"(torch::NoGradGuard no_grad;
for (auto& p : group.params()) p = p - lr * p.grad();  // a new tensor)",
              .good = R"(torch::NoGradGuard no_grad;
for (auto& p : group.params()) p.sub_(lr * p.grad());)"},
      .sources = {"PyTorch before 2.4 on MPS: in-place operations on non-contiguous tensors",
                  "own reasoning for what rounding can hide"},
      .covers = {"lost-in-place-write", "stale-compiled-step"},
      .explains = {"learnability/input_independence", "learnability/cannot_overfit_one_batch",
                   "optimizer/wrong_update"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kOptimizerBuilt,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"tiny updates", Expect::kClean,
                    [] { return Moving({.trunk = 1e-20, .head = 1e-20}); }},
                   {"updates of zero", Expect::kError,
                    [] { return Moving({.trunk = 0, .head = 0}); }},
                   {"updates of zero for one parameter", Expect::kWarning,
                    [] { return Moving({.trunk = 0}); }},
                   {"one parameter so large that rounding hides the updates", Expect::kClean,
                    [] { return Moving({.trunk = 0, .trunk_weight = 1e5}); }},
                   {"one parameter in low precision", Expect::kClean,
                    [] { return Moving({.trunk = 0, .trunk_dtype = "bfloat16"}); }}},
  };
}

}  // namespace dlcheck::optimizer
