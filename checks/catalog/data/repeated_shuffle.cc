#include "checks/catalog/batch_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/batches.h"

namespace dlcheck::data {
namespace {

constexpr Setting kIterations{.name = "iterations",
                              .value = 3,
                              .low = 2,
                              .high = 1e6,
                              .unit = "iterations",
                              .meaning = "how often a place has to have held the same batch",
                              .source = "own reasoning"};

constexpr Setting kSamples{.name = "samples",
                           .value = 16,
                           .low = 2,
                           .high = 1e9,
                           .unit = "samples",
                           .meaning = "smallest data set whose order is judged",
                           .source =
                               "own reasoning: two batches of one out of 16 agree twice by "
                               "chance in one of 60,000 runs"};

bool IsShuffled(const Batches::Loader& loader) {
  return loader.order == "random" || loader.order == "distributed";
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Batches& batches) {
  Verdict verdict;
  int64_t judged = 0;
  for (const auto& [id, loader] : batches.loaders) {
    if (!IsShuffled(loader) || loader.samples < settings[kSamples]) continue;
    const OrderOfData order = OrderOf(batches, id, static_cast<int64_t>(settings[kIterations]));
    if (order.places < 2) continue;
    ++judged;
    if (!order.same) continue;
    const bool distributed = loader.order == "distributed";
    verdict.findings.push_back(
        {.severity = Severity::kWarning,
         .message = StrCat(loader.name, " shuffles (", loader.order, "), but handed out the same ",
                           order.places, " batches at the same places of ", order.iterations,
                           " iterations",
                           distributed ? ": its sampler was not told the epoch."
                                       : ": its random numbers begin anew each time."),
         .places = {{.thing = loader.name, .file = ""}},
         .first_step = order.first_step,
         .last_step = order.last_step,
         .count = order.iterations,
         .measured = static_cast<double>(order.iterations),
         .bound = 1});
  }
  if (judged == 0) {
    return absl::NotFoundError(StrCat("no loader that shuffles was seen in ", settings[kIterations],
                                      " iterations of several batches"));
  }
  verdict.judged = Counted(judged, "loader");
  return verdict;
}

}  // namespace

Check RepeatedShuffle() {
  return {
      .id = "data/repeated_shuffle",
      .promise = "A loader that shuffles gives another order in each iteration.",
      .why =
          "The same batches in the same order every epoch generalise worse than shuffling does, "
          "and whoever asked for shuffling does not get it.",
      .method =
          "Fingerprints of the batches at the same places of at least three iterations of one "
          "loader: all equal, while different places differ.",
      .fix =
          "Call sampler.set_epoch(epoch) before each epoch of a DistributedSampler; seed once "
          "before the loop, not in each epoch.",
      .limits =
          "Only what sampled steps show: short epochs, or many. Random augmentations hide a "
          "repeated order. A loader that is built anew for each epoch is not judged.",
      .sources = {"PyTorch documentation of DistributedSampler.set_epoch", "pytorch issue 31771"},
      .covers = {"D12"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kFetched,
      .settings = {kIterations, kSamples},
      .judgement = Reads<&Judge>(),
      .examples = {{"one batch of four goes elsewhere", Expect::kClean,
                    [] {
                      return WithBatches({.batch = [](int iteration, int place) {
                        return iteration == 3 && place >= 2 ? 5 - place : place;
                      }});
                    }},
                   {"the same order in four iterations", Expect::kFaulty,
                    [] { return WithBatches({.batch = SameByPlace}); }},
                   {"the same in a distributed run", Expect::kFaulty,
                    [] { return WithBatches({.order = "distributed", .batch = SameByPlace}); }},
                   {"one input for all", Expect::kClean,
                    [] {
                      return WithBatches({.steps = 12, .batch = [](int, int) { return 0; }});
                    }}},
  };
}

}  // namespace dlcheck::data
