#include "checks/signals/repeated_steps.h"
#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kTimes{.name = "times",
                         .value = 3,
                         .low = 1,
                         .high = 1e6,
                         .unit = "steps",
                         .meaning = "repeated steps that a finding rests on",
                         .source = "own reasoning: of a loop, not of one odd moment"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const dlcheck::RepeatedSteps& steps) {
  Verdict verdict{.findings = {}, .judged = StrCat(Counted(steps.judged, "pair"), " of steps")};
  for (const dlcheck::RepeatedSteps::Optimizer& optimizer : steps.optimizers) {
    const auto count = static_cast<int64_t>(optimizer.repeated.size());
    if (static_cast<double>(count) < settings[kTimes]) continue;
    std::vector<Place> places = {{.thing = optimizer.name, .file = ""}};
    if (optimizer.site.line > 0) {
      places.push_back({.thing = "", .file = optimizer.site.file, .line = optimizer.site.line});
    }
    verdict.findings.push_back(
        {.severity = Severity::kWarning,
         .message =
             StrCat(optimizer.name, " made ", count, " of ", Counted(steps.judged, "sampled step"),
                    " on the gradients of the step before: no backward was called between, "
                    "and every norm is the same; first at step ",
                    optimizer.repeated.front(), "."),
         .places = std::move(places),
         .first_step = optimizer.repeated.front(),
         .last_step = optimizer.repeated.back(),
         .count = count,
         .measured = static_cast<double>(count),
         .bound = settings[kTimes]});
  }
  return verdict;
}

// Every other step has no backward; its gradient is this many times that of the step before.
Evidence EveryOther(double times) {
  RunBuilder run = TwoLayers();
  for (int pair = 0; pair < 8; ++pair) {
    AddStep(run, {.trunk_gradient = 0.1 + pair, .held = {}});
    run.Quantity(Quantity::kGradientNorm, "parameter", "trunk.weight", (0.1 + pair) * times);
    run.Quantity(Quantity::kGradientNorm, "parameter", "head.weight", 0.2 * times);
    run.Event(Event::kStep, 0, "optimizer", "optimizer#0");
  }
  return PlainOnly(run);
}

}  // namespace

Check RepeatedSteps() {
  return {
      .id = "optimizer/repeated_steps",
      .promise = "An optimizer makes one step on a gradient.",
      .why = "A second step on the same gradient doubles the rate, and moments count it twice.",
      .method =
          "Sampled steps of one optimizer that follow each other, with no backward between: the "
          "norm of every parameter's gradient is that of the step before, and not zero.",
      .fix =
          "Call optimizer.step() once after backward; look whether a trainer or an engine steps "
          "too.",
      .limits =
          "Gradients that are made otherwise than by backward differ from step to step and are "
          "clean. Two steps on one gradient on purpose look the same.",
      .sources = {"PyTorch documentation of torch.optim: taking an optimization step",
                  "own reasoning: exact"},
      .covers = {"O02"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {kTimes},
      .judgement = Reads<&Judge>(),
      .examples = {{"another gradient in each", Expect::kClean, [] { return EveryOther(0.5); }},
                   {"the same in every other step", Expect::kFaulty, [] { return EveryOther(1); }}},
  };
}

}  // namespace dlcheck::optimizer
