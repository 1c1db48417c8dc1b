#include "checks/signals/motion.h"

#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest measured steps of a parameter that a finding rests on",
                         .source = "own reasoning: none of them may have moved it"};

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
                         ") had a gradient and a rate and were not moved by any of ", first.judged,
                         " or more measured steps; ", first.name, " had a gradient of norm ",
                         Short(first.gradient), " at step ", first.last_step, " and a rate of ",
                         Short(first.rate), "."),
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
      .promise = "A step moves the parameters that have a gradient and a rate.",
      .why = "The optimizer runs and its updates go nowhere: the model stays as it is.",
      .method =
          "The norm of what each measured step added to a parameter, where its gradient and the "
          "rate of its group make an update that rounding cannot hide: exactly zero at all of "
          "them.",
      .fix =
          "Look for a step that works on copies: parameters that are not contiguous, a compiled "
          "step that is out of date, or weights that a wrapper writes back.",
      .limits =
          "Judges SGD and the adaptive optimizers of torch.optim on float32 and float64; lower "
          "precision is what precision/lost_updates judges. An error if no parameter moved, else "
          "a warning.",
      .sources = {"PyTorch before 2.4 on MPS: in-place operations on non-contiguous tensors",
                  "own reasoning for what rounding can hide"},
      .covers = {"O13", "O14"},
      .explains = {"learnability/input_independence", "learnability/cannot_overfit_one_batch",
                   "optimizer/wrong_update"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"tiny updates", Expect::kClean,
                    [] { return Moving({.trunk = 1e-20, .head = 1e-20}); }},
                   {"updates of zero", Expect::kFaulty,
                    [] { return Moving({.trunk = 0, .head = 0}); }},
                   {"updates of zero of one parameter", Expect::kFaulty,
                    [] { return Moving({.trunk = 0}); }},
                   {"one parameter so large that rounding takes them", Expect::kClean,
                    [] { return Moving({.trunk = 0, .trunk_weight = 1e5}); }},
                   {"one parameter in low precision", Expect::kClean,
                    [] { return Moving({.trunk = 0, .trunk_dtype = "bfloat16"}); }}},
  };
}

}  // namespace dlcheck::optimizer
