#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizer/relative_updates.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kMotion{
    .name = "motion",
    .value = 1e-5,
    .low = 0,
    .high = 1,
    .unit = "1",
    .meaning = "largest possible motion of the weights in the whole run, of their norm",
    .source = "measured: healthy programs of 15 steps and more move them by 0.01 or more"};
constexpr Setting kLittle{
    .name = "little_motion",
    .value = 1e-4,
    .low = 0,
    .high = 1,
    .unit = "1",
    .meaning = "the same, for a note",
    .source = "own reasoning: a short run in the warmup of a fine-tuning moves them by this much"};
constexpr Setting kSteps{.name = "steps",
                         .value = 16,
                         .low = 1,
                         .high = 1e9,
                         .unit = "optimizer steps",
                         .meaning = "fewest steps for a finding",
                         .source = "own reasoning: a warmup may begin at a rate near zero"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const RelativeUpdates& updates) {
  Verdict verdict{.findings = {}, .judged = Counted(updates.steps, "optimizer step")};
  const auto steps = static_cast<double>(updates.steps);
  if (steps < settings[kSteps]) {
    return absl::NotFoundError(StrCat("only ", Counted(updates.steps, "optimizer step"), ", but ",
                                      settings[kSteps], " are needed"));
  }
  for (const RelativeUpdates::Optimizer& optimizer : updates.optimizers) {
    const double largest = optimizer.Largest();
    const double motion = largest * steps;
    if (largest == 0 || motion >= std::max(settings[kMotion], settings[kLittle])) continue;
    verdict.findings.push_back(
        {.severity = motion < settings[kMotion] ? Severity::kWarning : Severity::kNote,
         .message =
             StrCat("No recorded update of ", optimizer.name, " moved its weights by more than ",
                    Short(largest), " of their norm, so ", Counted(updates.steps, "step"),
                    " moved them by at most ", Short(motion), "."),
         .places = {{.thing = optimizer.name, .file = ""}},
         .first_step = optimizer.steps.front().step,
         .last_step = optimizer.steps.back().step,
         .count = static_cast<int64_t>(optimizer.steps.size()),
         .measured = motion,
         .bound = settings[kMotion]});
  }
  return verdict;
}

// Steps whose updates have this norm, of weights of norm 1.
Evidence Moving(double update) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 20; ++step) {
    run.Owner("optimizer", "optimizer#0");
    run.Quantity(Quantity::kWeightNorm, "parameter", "trunk.weight", 1);
    run.Quantity(Quantity::kUpdateNorm, "parameter", "trunk.weight", update);
    run.Owner("");
    AddStep(run, {.held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check NegligibleUpdates() {
  return {
      .id = "optimizer/negligible_updates",
      .title = "Updates are too small to train the weights",
      .promise = "The updates of a run move the weights by more than 1e-4 of their norm.",
      .why =
          "The model that the run ends with is the model that it began with. The loss curve is "
          "flat noise and looks like a hard problem.",
      .method =
          "Measures the norm of each recorded update over the norm of the weights. Multiplies the "
          "largest ratio by the number of steps.",
      .fix =
          "Raise the learning rate, or look for a factor that shrinks the gradients: a loss scale, "
          "a clipping bound, a weight of the loss.",
      .limits = {.needs = "16 optimizer steps.",
                 .silent_when = "No update moves any weight: other checks report that.",
                 .severity = "Warning below 1e-5 of the norm, else a note.",
                 .blind_spots = "A schedule that warms up from zero may move the weights later.",
                 .sensitivity = ""},
      .python = {.bad = R"(optimizer = torch.optim.Adam(model.parameters(), lr=1e-10)
for x, y in loader:
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step())",
                 .good = R"(optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for x, y in loader:
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step())"},
      .cpp = {.bad = R"(torch::optim::Adam optimizer(model->parameters(), /*lr=*/1e-10);
TrainOneEpoch(model, *loader, optimizer);)",
              .good = R"(torch::optim::Adam optimizer(model->parameters(), /*lr=*/1e-3);
TrainOneEpoch(model, *loader, optimizer);)"},
      .sources = {"measured: tests/planting"},
      .covers = {"unsuitable-learning-rate", "zero-learning-rate"},
      .explains = {"learnability/no_better_than_constant", "training_loop/flat_loss"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kOptimizerBuilt,
      .settings = {kMotion, kLittle, kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"a motion of 1.2e-4", Expect::kClean, [] { return Moving(6e-6); }},
                   {"a motion of 1.2e-5", Expect::kNote, [] { return Moving(6e-7); }},
                   {"a motion of 8e-6", Expect::kWarning, [] { return Moving(4e-7); }}},
  };
}

}  // namespace dlcheck::optimizer
