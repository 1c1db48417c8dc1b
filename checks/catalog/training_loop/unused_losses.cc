#include "checks/signals/loss/unused_losses.h"
#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::training_loop {
namespace {

constexpr int64_t kFewestSteps = 3;

absl::StatusOr<Verdict> Judge(const Settings&, const dlcheck::UnusedLosses& unused) {
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(unused.lines.size()), "line")};
  for (const dlcheck::UnusedLosses::Line& line : unused.lines) {
    if (line.steps < kFewestSteps || line.only_last < line.steps) continue;
    std::vector<Place> places;
    if (line.site.line > 0) {
      places.push_back({.thing = "", .file = line.site.file, .line = line.site.line});
    }
    verdict.findings.push_back(
        {.severity = Severity::kWarning,
         .message = StrCat("In each of ", line.steps,
                           " recorded steps, this line computed several ", "losses (", line.losses,
                           " in step ", line.last_step, "). backward() reached only the last one."),
         .places = std::move(places),
         .first_step = line.first_step,
         .last_step = line.last_step,
         .count = line.only_last,
         .measured = static_cast<double>(line.losses - 1),
         .bound = 0});
  }
  return verdict;
}

// Steps in which one line computed three losses; `unused` of them had no backward.
Evidence Steps(int unused, int steps) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < steps; ++step) {
    run.Quantity(Quantity::kUnusedLosses, "loss", "losses", unused, 3);
    AddStep(run, {.held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check UnusedLosses() {
  return {
      .id = "training_loop/unused_losses",
      .title = "backward() reaches only the last of several losses",
      .promise = "Every loss that a training step computes takes part in its backward.",
      .why =
          "With loss.backward() after the loop over tasks or micro-batches, only the last loss "
          "trains the model. The work for the others is lost.",
      .method =
          "Marks the losses that one line computes in a step. Walks the autograd graph from the "
          "tensor of each backward call and notes which of them it reaches.",
      .fix = "Add up the losses, or call backward() on each one inside the loop.",
      .limits = {.needs = "A program that calls PyTorch's loss functions, and three steps.",
                 .silent_when = "Any recorded step reaches another loss of the line, or computes "
                                "only one.",
                 .severity = "Always a warning: a program may choose one loss on purpose.",
                 .blind_spots = "Losses written by hand.",
                 .sensitivity = ""},
      .python = {.bad = R"(for task, (x, y) in batches.items():
    loss = F.cross_entropy(model(x, task), y)
loss.backward())",
                 .good = R"(loss = 0
for task, (x, y) in batches.items():
    loss = loss + F.cross_entropy(model(x, task), y)
loss.backward())"},
      .cpp = {.bad = R"(torch::Tensor loss;
for (auto& batch : tasks) loss = criterion(model->forward(batch.data), batch.target);
loss.backward();)",
              .good = R"(torch::Tensor loss = torch::zeros({});
for (auto& batch : tasks) loss += criterion(model->forward(batch.data), batch.target);
loss.backward();)"},
      .sources = {"own reasoning: a loss without backward adds nothing to any gradient"},
      .covers = {"partial-loss-backward"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"losses that are all used", Expect::kClean, [] { return Steps(0, 8); }},
                   {"too few steps", Expect::kClean, [] { return Steps(2, 2); }},
                   {"only the last loss is used", Expect::kWarning, [] { return Steps(2, 8); }}},
  };
}

}  // namespace dlcheck::training_loop
