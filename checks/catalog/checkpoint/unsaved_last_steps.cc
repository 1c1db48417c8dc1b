#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/checkpoint/state_files.h"
#include "checks/signals/run/run_ending.h"

namespace dlcheck::checkpoint {
namespace {

constexpr Setting kSaves{
    .name = "saves",
    .value = 3,
    .low = 3,
    .high = 1e6,
    .unit = "saves",
    .meaning = "fewest saves after equal numbers of steps that are a rule",
    .source = "own reasoning: two distances that are equal by chance are rare"};

// The steps before which weights were saved.
std::set<int64_t> StepsOf(const StateFiles& files) {
  std::set<int64_t> steps;
  for (const StateFiles::Save& save : files.saves) {
    const bool known = !save.contents.empty();
    if (known && !save.contents.contains("model") && !save.contents.contains("average")) continue;
    steps.insert(save.step);
  }
  return steps;
}

// The number of steps between any two saves; nothing if it differs. A save before the first step is
// that of another program's state, or of what training starts from.
std::optional<int64_t> Distance(const std::set<int64_t>& steps) {
  std::optional<int64_t> distance;
  std::optional<int64_t> before;
  for (const int64_t step : steps) {
    if (before.has_value()) {
      if (distance.has_value() && *distance != step - *before) return std::nullopt;
      distance = step - *before;
    }
    before = step;
  }
  return distance;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const StateFiles& files,
                              const RunEnding& run) {
  if (files.saves.empty()) return absl::NotFoundError("no state was saved to a file");
  if (files.saves_in_gaps > 0) {
    return absl::NotFoundError("not every save of this run was recorded");
  }
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(files.saves.size()), "saved file")};
  if (run.ending.how != Ending::How::kFinished) return verdict;
  std::set<int64_t> steps = StepsOf(files);
  steps.erase(0);
  if (static_cast<double>(steps.size()) < settings[kSaves]) return verdict;
  const std::optional<int64_t> distance = Distance(steps);
  const int64_t rest = run.steps - *steps.rbegin();
  if (!distance.has_value() || rest <= 0 || rest >= *distance) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat("Weights were saved after every ", Counted(*distance, "step"),
                         ", and the program ended ", Counted(rest, "step"),
                         " after the last save: no file holds what these steps learned."),
       .places = {},
       .first_step = *steps.rbegin(),
       .last_step = run.steps - 1,
       .count = rest,
       .measured = static_cast<double>(rest),
       .bound = 0});
  return verdict;
}

// A save after every fourth step.
Evidence Of(int steps, int last_save = 12) {
  RunBuilder run = TwoLayers();
  run.Attribute("file", "last.pt", "contents", "model");
  for (int step = 1; step <= steps; ++step) {
    AddStep(run, {.held = {}});
    if (step % 4 == 0 && step <= last_save) run.Event(Event::kSaved, 0, "file", "last.pt");
  }
  return PlainOnly(run);
}

}  // namespace

Check UnsavedLastSteps() {
  return {
      .id = "checkpoint/unsaved_last_steps",
      .title = "The last steps of the training were not saved",
      .promise = "A program that saves at regular intervals also saves the final weights.",
      .why =
          "The last file holds the weights of an earlier step. Later updates are lost when the "
          "program ends, and the last logged metrics belong to weights that are gone.",
      .method =
          "Compares the number of steps between saves with the number of steps after the last one. "
          "All saves must be equally far apart, and the program must end normally before the next "
          "one.",
      .fix = "Call torch.save(model.state_dict(), path) once more after the training loop.",
      .limits = {.needs = "Three saves of weights in a run that ends normally.",
                 .silent_when =
                     "Saves are not equally far apart, as where the best weights are saved. Also "
                     "if a whole interval or more follows the last save.",
                 .severity = "Always a note, because a program may need no final weights.",
                 .blind_spots = "Saves by other functions than torch.save or safetensors. Runs "
                                "with so many saves that not all of them are recorded.",
                 .sensitivity = ""},
      .python = {.bad = R"(for step in range(2500):
    train_step(model, optimizer, next(batches))
    if (step + 1) % 1000 == 0:
        torch.save(model.state_dict(), "last.pt"))",
                 .good = R"(for step in range(2500):
    train_step(model, optimizer, next(batches))
    if (step + 1) % 1000 == 0:
        torch.save(model.state_dict(), "last.pt")
torch.save(model.state_dict(), "last.pt"))"},
      .cpp = {.bad = R"(for (int step = 0; step < 2500; ++step) {
  TrainStep(model, optimizer, NextBatch());
  if ((step + 1) % 1000 == 0) torch::save(model, "last.pt");
})",
              .good = R"(for (int step = 0; step < 2500; ++step) {
  TrainStep(model, optimizer, NextBatch());
  if ((step + 1) % 1000 == 0) torch::save(model, "last.pt");
}
torch::save(model, "last.pt");)"},
      .sources = {"own reasoning"},
      .covers = {"final-weights-not-saved"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kSaved,
      .settings = {kSaves},
      .judgement = Reads<&Judge>(),
      .examples = {{"the last step is saved", Expect::kClean, [] { return Of(12); }},
                   {"three steps after the last save", Expect::kNote, [] { return Of(15); }},
                   {"a whole interval without a save", Expect::kClean, [] { return Of(16); }}},
  };
}

}  // namespace dlcheck::checkpoint
