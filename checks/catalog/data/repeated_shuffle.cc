#include <optional>
#include <utility>
#include <vector>

#include "checks/catalog/examples/batch_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/data/batches.h"

namespace dlcheck::data {
namespace {

constexpr Setting kIterations{.name = "iterations",
                              .value = 3,
                              .low = 2,
                              .high = 1e6,
                              .unit = "iterations",
                              .meaning = "fewest iterations that have the same batch at a position",
                              .source = "own reasoning"};

constexpr Setting kSamples{.name = "samples",
                           .value = 16,
                           .low = 2,
                           .high = 1e9,
                           .unit = "samples",
                           .meaning = "smallest data set whose order is judged",
                           .source =
                               "own reasoning: two single-sample batches of 16 samples agree twice "
                               "by chance in one of 60,000 runs"};

bool IsShuffled(const Batches::Loader& loader) {
  return loader.order == "random" || loader.order == "distributed";
}

// Steps that trained on batches of the loader; none of one that only evaluates.
std::vector<int64_t> StepsOf(const Batches& batches, ThingId loader) {
  std::vector<int64_t> steps;
  for (const Batches::Batch& batch : batches.batches) {
    if (batch.fetched && batch.fetched->loader == loader) steps.push_back(batch.step);
  }
  return steps;
}

// The order itself was not seen often enough, but what it was drawn from.
std::optional<Finding> SameStart(const Settings& settings, const Batches& batches, ThingId id) {
  const Batches::Loader& loader = batches.loaders.at(id);
  const std::vector<int64_t> steps = StepsOf(batches, id);
  if (steps.empty() || loader.same_start < settings[kIterations]) return std::nullopt;
  return Finding{
      .severity = Severity::kWarning,
      .message = StrCat(loader.name, " shuffles (", loader.order, "), but ",
                        Counted(Whole(loader.same_start), "iteration"),
                        " began with the same random state, so they have the same order: its "
                        "random numbers are reset each time."),
      .places = {{.thing = loader.name, .file = ""}},
      .first_step = steps.front(),
      .last_step = steps.back(),
      .count = Whole(loader.same_start),
      .measured = loader.same_start,
      .bound = 1};
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Batches& batches) {
  Verdict verdict;
  int64_t judged = 0;
  for (const auto& [id, loader] : batches.loaders) {
    if (!IsShuffled(loader) || loader.samples < settings[kSamples]) continue;
    const OrderOfData order = OrderOf(batches, id, static_cast<int64_t>(settings[kIterations]));
    if (!order.same && loader.order == "random") {
      if (std::optional<Finding> finding = SameStart(settings, batches, id)) {
        ++judged;
        verdict.findings.push_back(*std::move(finding));
        continue;
      }
    }
    if (order.places < 2) continue;
    ++judged;
    if (!order.same) continue;
    const bool distributed = loader.order == "distributed";
    verdict.findings.push_back(
        {.severity = Severity::kWarning,
         .message = StrCat(loader.name, " shuffles (", loader.order, "), but returned the same ",
                           order.places, " batches at the same positions of ", order.iterations,
                           " iterations",
                           distributed ? ": set_epoch() was not called on its sampler."
                                       : ": its random numbers are reset each time."),
         .places = {{.thing = loader.name, .file = ""}},
         .first_step = order.first_step,
         .last_step = order.last_step,
         .count = order.iterations,
         .measured = static_cast<double>(order.iterations),
         .bound = 1});
  }
  if (judged == 0) {
    return absl::NotFoundError(StrCat("no loader that shuffles went through ",
                                      settings[kIterations], " iterations of several batches"));
  }
  verdict.judged = Counted(judged, "loader");
  return verdict;
}

}  // namespace

Check RepeatedShuffle() {
  return {
      .id = "data/repeated_shuffle",
      .title = "Every epoch uses the same shuffled order",
      .promise = "A loader that shuffles returns a different order in each iteration.",
      .why =
          "Training repeats the same batches in the same order every epoch and generalizes worse "
          "than with shuffling. The requested shuffling does not happen.",
      .method =
          "Compares fingerprints of the batches at the same positions of at least three iterations "
          "of one loader. Reports a loader if all iterations agree while different positions "
          "differ. Also compares the first random number that torch draws for each iteration.",
      .fix =
          "Call sampler.set_epoch(epoch) before each epoch of a DistributedSampler. Call "
          "torch.manual_seed() once before the loop, not in each epoch.",
      .limits = {.needs = "A loader that shuffles, at least 16 samples, and three iterations of "
                          "several batches that sampled steps cover.",
                 .silent_when = "The sampler has a generator of its own, and random augmentations "
                                "hide the repeated order.",
                 .severity = "Always a warning.",
                 .blind_spots = "Sampled steps show the order of a DistributedSampler only if "
                                "epochs are short or many.",
                 .sensitivity = ""},
      .python = {.bad = R"(sampler = DistributedSampler(dataset)
loader = DataLoader(dataset, batch_size=32, sampler=sampler)
for epoch in range(epochs):
    train_one_epoch(model, loader))",
                 .good = R"(sampler = DistributedSampler(dataset)
loader = DataLoader(dataset, batch_size=32, sampler=sampler)
for epoch in range(epochs):
    sampler.set_epoch(epoch)
    train_one_epoch(model, loader))"},
      .cpp = {.bad =
                  R"(torch::data::samplers::DistributedRandomSampler sampler(size, replicas, rank);
for (size_t epoch = 0; epoch < epochs; ++epoch) {
  TrainOneEpoch(model, *loader);
})",
              .good =
                  R"(torch::data::samplers::DistributedRandomSampler sampler(size, replicas, rank);
for (size_t epoch = 0; epoch < epochs; ++epoch) {
  sampler.set_epoch(epoch);
  TrainOneEpoch(model, *loader);
})"},
      .sources = {"PyTorch documentation of DistributedSampler.set_epoch", "pytorch issue 31771"},
      .covers = {"same-order-every-epoch", "random-state-reset"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kFetched,
      .settings = {kIterations, kSamples},
      .judgement = Reads<&Judge>(),
      .examples = {{"two of four batches swap positions once", Expect::kClean,
                    [] {
                      return WithBatches({.batch = [](int iteration, int place) {
                        return iteration == 3 && place >= 2 ? 5 - place : place;
                      }});
                    }},
                   {"the same order in four iterations", Expect::kWarning,
                    [] { return WithBatches({.batch = SameByPlace}); }},
                   {"the same order in a distributed run", Expect::kWarning,
                    [] { return WithBatches({.order = "distributed", .batch = SameByPlace}); }},
                   {"another order, but three iterations with the same random state",
                    Expect::kWarning, [] { return WithBatches({.same_start = 3}); }},
                   {"two iterations with the same random state", Expect::kClean,
                    [] { return WithBatches({.same_start = 2}); }},
                   {"one input at all positions", Expect::kClean,
                    [] {
                      return WithBatches({.steps = 12, .batch = [](int, int) { return 0; }});
                    }}},
  };
}

}  // namespace dlcheck::data
