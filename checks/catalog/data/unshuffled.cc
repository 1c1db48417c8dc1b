#include "checks/catalog/examples/batch_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/data/batches.h"

namespace dlcheck::data {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Batches& batches) {
  Verdict verdict;
  int64_t judged = 0;
  for (const auto& [id, loader] : batches.loaders) {
    const OrderOfData order = OrderOf(batches, id, 2);
    if (order.places < 2) continue;
    ++judged;
    const bool allowed = !batches.declared_shuffle.empty() && batches.declared_shuffle != "1";
    if (loader.order != "sequential" || !order.same || allowed) continue;
    if (!verdict.findings.empty()) continue;
    verdict.findings.push_back(
        {.severity = batches.declared_shuffle == "1" ? Severity::kError : Severity::kNote,
         .message =
             StrCat(loader.name, " does not shuffle: training saw the same batches at the ",
                    "same ", order.places, " positions of ", order.iterations, " iterations."),
         .places = {{.thing = loader.name, .file = ""}},
         .first_step = order.first_step,
         .last_step = order.last_step,
         .count = order.iterations,
         .measured = static_cast<double>(order.iterations),
         .bound = 1});
  }
  if (judged == 0) {
    return absl::NotFoundError("no loader fed training for two iterations of several batches");
  }
  verdict.judged = Counted(judged, "loader");
  return verdict;
}

}  // namespace

Check Unshuffled() {
  return {
      .id = "data/unshuffled",
      .title = "The training data are never shuffled",
      .promise = "Training sees its data in a different order each time.",
      .why =
          "Sorted data have similar neighbors. Each batch pulls the model to one side, and the "
          "loss rises and falls with the order.",
      .method =
          "Compares fingerprints of the batches at the same positions of two or more iterations of "
          "a sequential loader. Takes the model's inputs, or else what the loader handed out.",
      .fix = "Pass shuffle=True to the DataLoader.",
      .limits =
          {.needs =
               "A sequential loader that feeds training for two iterations of several batches.",
           .silent_when = "shuffle = false is declared.",
           .severity = "Error if shuffle = true is declared. Otherwise a note: order may be "
                       "intentional, as in time series, or the data may be shuffled in advance.",
           .blind_spots = "The check sees only the batches of sampled steps.",
           .sensitivity = ""},
      .python = {.bad = R"(loader = DataLoader(dataset, batch_size=64)
for epoch in range(epochs):
    train_one_epoch(model, loader))",
                 .good = R"(loader = DataLoader(dataset, batch_size=64, shuffle=True)
for epoch in range(epochs):
    train_one_epoch(model, loader))"},
      .cpp = {.bad = R"(auto loader = torch::data::make_data_loader<
    torch::data::samplers::SequentialSampler>(std::move(dataset), 64);
for (auto& batch : *loader) TrainStep(model, optimizer, batch);)",
              .good = R"(auto loader = torch::data::make_data_loader<
    torch::data::samplers::RandomSampler>(std::move(dataset), 64);
for (auto& batch : *loader) TrainStep(model, optimizer, batch);)"},
      .sources = {"PyTorch documentation of torch.utils.data.DataLoader: shuffle"},
      .covers = {"sorted-data-not-shuffled"},
      .explains = {"data/samples_never_used"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kFetched,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"data that the program shuffles itself", Expect::kClean,
            [] { return WithBatches({.order = "sequential", .shuffle = "1"}); }},
           {"the same order", Expect::kError,
            [] {
              return WithBatches({.order = "sequential", .batch = SameByPlace, .shuffle = "1"});
            }},
           {"the same order, with nothing declared", Expect::kNote,
            [] { return WithBatches({.order = "sequential", .batch = SameByPlace}); }},
           {"the same order of packed inputs", Expect::kNote,
            [] { return WithBatches({.order = "sequential", .used = 57, .batch = SameByPlace}); }},
           {"the same order of batches that the program augments", Expect::kNote,
            [] { return WithBatches({.order = "sequential", .handed_out = SameByPlace}); }},
           {"another order of batches that the program augments", Expect::kClean,
            [] {
              return WithBatches(
                  {.order = "sequential",
                   .handed_out = [](int iteration, int place) { return iteration + place; }});
            }},
           {"a test loader beside training that shuffles, in training mode", Expect::kClean,
            [] { return WithBatches({.tested_each = 4}); }},
           {"a whole graph in each step", Expect::kClean,
            [] {
              return WithBatches(
                  {.order = "sequential", .used = 500, .batch = [](int, int) { return 0; }});
            }},
           {"the same order on purpose", Expect::kClean,
            [] {
              return WithBatches({.order = "sequential", .batch = SameByPlace, .shuffle = "0"});
            }}},
  };
}

}  // namespace dlcheck::data
