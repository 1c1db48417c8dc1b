#include "checks/catalog/batch_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/batches.h"

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
         .message = StrCat(loader.name, " does not shuffle: training saw the same batches at the ",
                           "same ", order.places, " places of ", order.iterations, " iterations."),
         .places = {{.thing = loader.name, .file = ""}},
         .first_step = order.first_step,
         .last_step = order.last_step,
         .count = order.iterations,
         .measured = static_cast<double>(order.iterations),
         .bound = 1});
  }
  if (judged == 0) {
    return absl::NotFoundError("no loader was seen to feed training twice with several batches");
  }
  verdict.judged = Counted(judged, "loader");
  return verdict;
}

}  // namespace

Check Unshuffled() {
  return {
      .id = "data/unshuffled",
      .promise = "Training sees its data in another order each time.",
      .why =
          "In data that are sorted, neighbours are alike: each batch pulls the model to one side, "
          "and the loss goes up and down with the order.",
      .method =
          "A loader whose order is sequential, and the fingerprints of the batches at the same "
          "places of two iterations or more.",
      .fix = "Give the loader shuffle=True.",
      .limits =
          "Order may be meant, as in time series, and data may be shuffled before: hence a note, "
          "an error where [program] declares shuffle = true, and nothing where it declares "
          "false. Only what sampled steps show.",
      .sources = {"PyTorch documentation of torch.utils.data.DataLoader: shuffle"},
      .covers = {"D11"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kFetched,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"data that are shuffled by hand", Expect::kClean,
                    [] { return WithBatches({.order = "sequential", .shuffle = "1"}); }},
                   {"the same order", Expect::kFaulty,
                    [] {
                      return WithBatches(
                          {.order = "sequential", .batch = SameByPlace, .shuffle = "1"});
                    }},
                   {"the same order, nothing declared", Expect::kFaulty,
                    [] { return WithBatches({.order = "sequential", .batch = SameByPlace}); }},
                   {"the same order on purpose", Expect::kClean,
                    [] {
                      return WithBatches(
                          {.order = "sequential", .batch = SameByPlace, .shuffle = "0"});
                    }}},
  };
}

}  // namespace dlcheck::data
