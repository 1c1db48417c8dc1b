#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/ties.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Ties& ties) {
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(ties.ties.size()), "tied parameter")};
  for (const Ties::Tie& tie : ties.ties) {
    const Sample* first = nullptr;
    const Sample* last = nullptr;
    int64_t count = 0;
    for (const Sample& sample : tie.distances) {
      if (!(sample.value > 0)) continue;
      if (first == nullptr) first = &sample;
      last = &sample;
      ++count;
    }
    if (first == nullptr) continue;
    verdict.findings.push_back(
        {.severity = Severity::kError,
         .message = StrCat(tie.one, " and ", tie.other, " are said to be one parameter, but are ",
                           Short(first->value), " apart before step ", first->step, " and ",
                           Short(last->value), " before step ", last->step, ": at ", count, " of ",
                           Counted(static_cast<int64_t>(tie.distances.size()), "look"), "."),
         .places = {{.thing = tie.one, .file = ""}, {.thing = tie.other, .file = ""}},
         .first_step = first->step,
         .last_step = last->step,
         .count = count,
         .measured = last->value,
         .bound = 0});
  }
  return verdict;
}

// Apart by `distance` before the last step.
Evidence Apart(double distance) {
  RunBuilder run = TwoLayers();
  run.Attribute("parameter", "trunk.weight", "tied_to", "head.weight");
  for (int step = 0; step < 3; ++step) {
    run.Quantity(Quantity::kTiedDistance, "parameter", "trunk.weight", step == 2 ? distance : 0);
    AddStep(run, {.held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check UntiedWeights() {
  return {
      .id = "model/untied_weights",
      .promise = "Parameters that are said to be tied stay one.",
      .why =
          "Each copy gets its own gradient and state and they drift apart; what is saved or "
          "exported as one parameter is then only one of two.",
      .method =
          "Norm of the difference of the two, before steps whose number is 0 or a power of two.",
      .fix =
          "Assign the parameter itself (head.weight = embedding.weight), and do so again after "
          "whatever loads, casts, moves, wraps or copies the model.",
      .limits =
          "Needs a program that names its tied parameters (Probe::Tied). Two copies with equal "
          "values are found only once they differ.",
      .sources = {"Press and Wolf 2017", "own reasoning: one parameter has no distance to itself"},
      .covers = {"M04", "K11"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"one parameter", Expect::kClean, [] { return Apart(0); }},
                   {"apart by next to nothing", Expect::kFaulty, [] { return Apart(1e-12); }}},
  };
}

}  // namespace dlcheck::model
