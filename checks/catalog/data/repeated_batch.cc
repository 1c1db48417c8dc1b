#include <algorithm>
#include <set>

#include "checks/catalog/batch_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/batches.h"

namespace dlcheck::data {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 16,
                         .low = 2,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "steps in a row that have to train on one batch",
                         .source = "own reasoning"};

// One model's batches that came from a loader with at least twice as many samples, as they came.
struct Seen {
  std::set<Batches::Digest> different;
  std::set<int64_t> steps, places;
  ThingId loader = 0;
  double samples = 0;
};

std::map<std::string, Seen> SeenByModel(const Batches& batches) {
  std::map<std::string, Seen> models;
  for (const Batches::Batch& batch : batches.batches) {
    if (!batch.fingerprint) continue;
    Seen& seen = models[batch.model];
    seen.different.insert(*batch.fingerprint);
    if (!batch.fetched) continue;
    const auto loader = batches.loaders.find(batch.fetched->loader);
    if (loader == batches.loaders.end() || loader->second.samples < 2 * batch.fetched->samples) {
      continue;
    }
    // An input of another size is not what the loader handed out: a whole graph, a grid.
    if (batch.size != batch.fetched->samples) continue;
    seen.steps.insert(batch.step);
    seen.places.insert(batch.fetched->place);
    seen.loader = batch.fetched->loader;
    seen.samples = batch.fetched->samples;
  }
  return models;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Batches& batches) {
  Verdict verdict;
  int64_t judged = 0;
  for (const auto& [model, seen] : SeenByModel(batches)) {
    const auto steps = static_cast<int64_t>(seen.steps.size());
    if (static_cast<double>(steps) < settings[kSteps]) continue;
    judged = std::max(judged, steps);
    if (seen.different.size() > 1) continue;
    const Batches::Loader& loader = batches.loaders.at(seen.loader);
    const bool rebuilt = seen.places.size() == 1 && *seen.places.begin() == 0;
    // The first batches of a loader that shuffles are others each time: such an input is constant.
    const bool shuffles = loader.order == "random" || loader.order == "distributed";
    const std::string same =
        StrCat("All of ", Counted(steps, "sampled step"), " trained on the same batch of ",
               seen.samples, " of the ", WithCommas(Whole(loader.samples)),
               " samples of ", loader.name, ": ");
    verdict.findings.push_back(
        {.severity = rebuilt && !shuffles ? Severity::kError : Severity::kNote,
         .message = same + (rebuilt ? "each came as the first of a new iteration."
                                    : "others were handed out, but the model was not given them."),
         .places = {{.thing = loader.name, .file = ""}, {.thing = model, .file = ""}},
         .first_step = *seen.steps.begin(),
         .last_step = *seen.steps.rbegin(),
         .count = steps,
         .measured = 1,
         .bound = 1});
  }
  if (judged == 0) {
    return absl::NotFoundError(StrCat("no loader with several batches was seen to feed a model in ",
                                      settings[kSteps], " sampled steps"));
  }
  verdict.judged = Counted(judged, "sampled step");
  return verdict;
}

}  // namespace

Check RepeatedBatch() {
  return {
      .id = "data/repeated_batch",
      .promise = "Steps train on different batches where the data set has several.",
      .why = "The model learns one batch by heart and has never seen the rest of the data.",
      .method =
          "Fingerprints of the first input of each training forward, against what loaders handed "
          "out before it: the same at every sampled step, and each the first batch of an iteration "
          "that had just begun.",
      .fix =
          "Make the iterator once, before the loop: for batch in loader, not next(iter(loader)).",
      .limits =
          "Inputs that are the same by design are left out where their size is not the batch's. "
          "Without a loader, or with one that hands out a single batch, nothing is judged. A model "
          "that is given one input while others are handed out is a note, and so is one whose "
          "loader "
          "shuffles.",
      .sources = {"own reasoning"},
      .covers = {"D31"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"random batches, each of a new iteration", Expect::kClean,
                    [] {
                      return WithBatches(
                          {.places = 1, .batch = [](int iteration, int) { return iteration; }});
                    }},
                   {"the same first batch again and again", Expect::kFaulty,
                    [] {
                      return WithBatches(
                          {.order = "sequential", .places = 1, .batch = SameByPlace});
                    }},
                   {"the same of a loader that shuffles", Expect::kFaulty,
                    [] { return WithBatches({.places = 1, .batch = SameByPlace}); }},
                   {"one batch in the model, others handed out", Expect::kFaulty,
                    [] { return WithBatches({.batch = [](int, int) { return 0; }}); }}},
  };
}

}  // namespace dlcheck::data
