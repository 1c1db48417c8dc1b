#include "checks/signals/optimizer/repeated_steps.h"
#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kTimes{.name = "times",
                         .value = 3,
                         .low = 1,
                         .high = 1e6,
                         .unit = "steps",
                         .meaning = "fewest repeated steps for a finding",
                         .source = "own reasoning: a loop repeats steps, a single event does not"};

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
         .message = StrCat(
             optimizer.name, " made ", count, " of ", Counted(steps.judged, "sampled step"),
             " on the gradients of the previous step, first at step ", optimizer.repeated.front(),
             ": backward() was not called in between, and every gradient norm is the same."),
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
      .title = "optimizer.step() runs twice on the same gradient",
      .promise = "An optimizer makes only one step on each gradient.",
      .why =
          "A second step on the same gradient doubles the learning rate, and the moments count the "
          "gradient twice.",
      .method =
          "Compares consecutive sampled steps of one optimizer with no backward call in between. "
          "Every parameter's gradient norm is nonzero and equal to the one in the previous step.",
      .fix =
          "Call optimizer.step() once after backward(). Check whether a trainer or engine also "
          "calls it.",
      .limits = {.needs = "Three repeated steps of one optimizer.",
                 .silent_when =
                     "Gradients that do not come from backward() differ from step to step.",
                 .severity = "",
                 .blind_spots = "Two intentional steps on one gradient look the same.",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:
    loss = criterion(model(x), y)
    accelerator.backward(loss)
    optimizer.step()
    optimizer.step()
    optimizer.zero_grad())",
                 .good = R"(for x, y in loader:
    loss = criterion(model(x), y)
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad())"},
      .cpp = {.bad = R"(criterion(model->forward(x), y).backward();
optimizer.step();
optimizer.step();
optimizer.zero_grad();)",
              .good = R"(criterion(model->forward(x), y).backward();
optimizer.step();
optimizer.zero_grad();)"},
      .sources = {"PyTorch documentation of torch.optim: taking an optimization step",
                  "own reasoning: exact"},
      .covers = {"wrong-number-of-steps"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {kTimes},
      .judgement = Reads<&Judge>(),
      .examples = {{"a different gradient in each step", Expect::kClean,
                    [] { return EveryOther(0.5); }},
                   {"the same gradient in every other step", Expect::kWarning,
                    [] { return EveryOther(1); }}},
  };
}

}  // namespace dlcheck::optimizer
