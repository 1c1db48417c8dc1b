#include <algorithm>
#include <optional>

#include "checks/catalog/examples/batch_runs.h"
#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/data/batches_of_model.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::data {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 16,
                         .low = 2,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest sampled steps, all of which train on one batch",
                         .source = "own reasoning"};

constexpr Setting kShare{
    .name = "share",
    .value = 0.8,
    .low = 0,
    .high = 1,
    .unit = "1",
    .meaning = "smallest share of steps on the batch of the step before, for a note",
    .source = "own reasoning: batches are repeated on purpose a few times, as in data echoing"};

// Several batches, each of them for many steps in a row.
std::optional<Finding> RepeatedInARow(const std::string& model, const BatchesOfModel& seen,
                                      const Settings& settings) {
  const BatchesOfModel::Neighbors neighbors = seen.Neighboring();
  const auto all = static_cast<double>(neighbors.all), same = static_cast<double>(neighbors.same);
  if (!seen.fed || seen.different.size() < 2) return std::nullopt;
  if (all < settings[kSteps] || same < settings[kShare] * all) return std::nullopt;
  return Finding{.severity = Severity::kNote,
                 .message = StrCat(neighbors.same, " of ", Counted(neighbors.all, "step"),
                                   " trained on the batch of the step before, although the loader "
                                   "has others."),
                 .places = {{.thing = model, .file = ""}},
                 .first_step = seen.first.begin()->first,
                 .last_step = seen.first.rbegin()->first,
                 .count = neighbors.same,
                 .measured = same / all,
                 .bound = settings[kShare]};
}

// Of a program whose loader is not known.
void TellRepeatedTargets(const Stated<Quantity::kRepeatedTargets>& repeated, Verdict& verdict) {
  for (const Statement& statement : repeated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kNote,
        StrCat(statement.name, " was given the same ", statement.aux, " targets in ",
               statement.value, " sampled steps in a row, and then others."),
        statement.name));
  }
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Batches& batches,
                              const IfSeen<Stated<Quantity::kRepeatedTargets>>& repeated) {
  Verdict verdict;
  int64_t judged = 0;
  if (repeated) {
    TellRepeatedTargets(*repeated, verdict);
    judged = repeated->all.empty() ? 0 : repeated->steps;
  }
  for (const auto& [model, seen] : ByModel(batches)) {
    if (std::optional<Finding> finding = RepeatedInARow(model, seen, settings)) {
      judged = std::max(judged, finding->count);
      verdict.findings.push_back(*std::move(finding));
      continue;
    }
    const auto steps = static_cast<int64_t>(seen.steps.size());
    if (static_cast<double>(steps) < settings[kSteps]) continue;
    judged = std::max(judged, steps);
    if (seen.different.size() > 1) continue;
    const Batches::Loader& loader = batches.loaders.at(seen.loader);
    const bool rebuilt = seen.places.size() == 1 && *seen.places.begin() == 0;
    // A loader that shuffles has a new first batch each time: an equal input is a constant.
    const bool shuffles = loader.order == "random" || loader.order == "distributed";
    const std::string same = StrCat(
        "All of ", Counted(steps, "sampled step"), " trained on the same batch of ", seen.samples,
        " of the ", WithCommas(Whole(loader.samples)), " samples of ", loader.name, ": ");
    verdict.findings.push_back(
        {.severity = rebuilt && !shuffles ? Severity::kError : Severity::kNote,
         .message =
             same +
             (rebuilt ? "each was the first batch of a new iteration."
                      : "the loader returned other batches, but the model did not receive them."),
         .places = {{.thing = loader.name, .file = ""}, {.thing = model, .file = ""}},
         .first_step = *seen.steps.begin(),
         .last_step = *seen.steps.rbegin(),
         .count = steps,
         .measured = 1,
         .bound = 1});
  }
  if (judged == 0) {
    return absl::NotFoundError(StrCat("no loader with several batches fed a model in ",
                                      settings[kSteps], " sampled steps"));
  }
  verdict.judged = Counted(judged, "sampled step");
  return verdict;
}

Evidence SameTargets() {
  RunBuilder run = TwoLayers();
  run.Event(Event::kUsed, 32, "model", "Net");
  run.Quantity(Quantity::kRepeatedTargets, "loss", "mse_loss", 60, 32);
  AddStep(run, {.held = {}});
  return PlainOnly(run);
}

}  // namespace

Check RepeatedBatch() {
  return {
      .id = "data/repeated_batch",
      .title = "Every step trains on the same batch",
      .promise = "Steps train on different batches if the data set has several.",
      .why = "The model memorizes one batch and never sees the rest of the data.",
      .method =
          "Compares fingerprints of the first input of each training forward with the batches that "
          "loaders returned before. Reports one fingerprint in every sampled step. Each batch was "
          "then the first of a new iteration. Reports one batch in many steps in a row, too. In a "
          "C++ program, compares the targets of a loss from step to step.",
      .fix =
          "Create the iterator once, before the loop: write for batch in loader instead of "
          "next(iter(loader)).",
      .limits = {.needs = "A loader whose data set has at least two batches, and 16 sampled steps.",
                 .silent_when = "The input has another size than the loader's batch, as a graph or "
                                "grid that is constant by design.",
                 .severity = "Error. Note if at least four of five steps repeat the batch before. "
                             "Note if the loader returned other batches but the model "
                             "received one input, or if the loader shuffles.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for step in range(steps):
    x, y = next(iter(loader))  # the first batch every time
    train_step(model, optimizer, x, y))",
                 .good = R"(for epoch in range(epochs):
    for x, y in loader:
        train_step(model, optimizer, x, y))"},
      .cpp = {.bad = R"(for (int step = 0; step < steps; ++step) {
  TrainStep(model, optimizer, *loader->begin());  // the first batch every time
})",
              .good = R"(for (auto& batch : *loader) {
  TrainStep(model, optimizer, batch);
})"},
      .sources = {"own reasoning"},
      .covers = {"one-batch-repeated"},
      .explains = {"learnability/no_better_than_constant"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kSteps, kShare},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"random batches, each from a new iteration", Expect::kClean,
            [] {
              return WithBatches(
                  {.places = 1, .batch = [](int iteration, int) { return iteration; }});
            }},
           {"the same first batch in every step", Expect::kError,
            [] { return WithBatches({.order = "sequential", .places = 1, .batch = SameByPlace}); }},
           {"the same first batch from a loader that shuffles", Expect::kNote,
            [] { return WithBatches({.places = 1, .batch = SameByPlace}); }},
           {"each batch twice", Expect::kClean,
            [] {
              return WithBatches({.steps = 32, .batch = [](int iteration, int place) {
                                    return 2 * iteration + place / 2;
                                  }});
            }},
           {"one batch in each iteration", Expect::kNote,
            [] {
              return WithBatches({.steps = 32, .places = 8, .batch = [](int iteration, int) {
                                    return iteration;
                                  }});
            }},
           {"the same, with packed inputs", Expect::kNote,
            [] {
              return WithBatches(
                  {.steps = 32, .places = 8, .used = 57, .batch = [](int iteration, int) {
                     return iteration;
                   }});
            }},
           {"the same targets throughout an epoch", Expect::kNote, [] { return SameTargets(); }},
           {"one batch in the model, other batches from the loader", Expect::kNote,
            [] { return WithBatches({.batch = [](int, int) { return 0; }}); }}},
  };
}

}  // namespace dlcheck::data
