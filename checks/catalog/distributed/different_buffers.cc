#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/distributed/rank_buffers.h"

namespace dlcheck::distributed {
namespace {

using Buffer = RankBuffers::Buffer;

Finding FindingOf(const RankBuffers::Group& group, const std::vector<const Buffer*>& found) {
  const Buffer& first = *found.front();
  std::vector<Place> places;
  for (const Buffer* buffer : found) {
    places.push_back({.thing = buffer->name, .rank = buffer->odd.front(), .file = ""});
  }
  return {
      .severity = group.never_sent ? Severity::kWarning : Severity::kNote,
      .message = StrCat(
          "Ranks ", group.name, " evaluated with different values in ",
          Counted(static_cast<int64_t>(found.size()), "buffer"), ": ", first.name, " differed on ",
          RanksText(first.odd), " in ", first.differing, " of ",
          Counted(first.evaluations, "evaluation"),
          group.never_sent ? ", and DDP broadcasts no buffers (broadcast_buffers=False)." : "."),
      .places = std::move(places),
      .first_step = first.first_step,
      .last_step = first.last_step,
      .count = static_cast<int64_t>(found.size()),
      .measured = static_cast<double>(found.size()),
      .bound = 0};
}

absl::StatusOr<Verdict> Judge(const Settings&, const RankBuffers& buffers) {
  Verdict verdict;
  int64_t judged = 0;
  for (const RankBuffers::Group& group : buffers.groups) {
    std::vector<const Buffer*> found;
    for (const Buffer& buffer : group.buffers) {
      if (buffer.differing > 0) found.push_back(&buffer);
    }
    judged += static_cast<int64_t>(group.buffers.size());
    if (!found.empty()) verdict.findings.push_back(FindingOf(group, found));
  }
  verdict.judged = Counted(judged, "buffer");
  return verdict;
}

// Two evaluations on both ranks.
Evidence Evaluated(double other, bool never_sent) {
  RunBuilder run = OfRanks({});
  if (never_sent) run.Attribute(kReplicas, "0-1", "own_buffers", "1");
  for (uint16_t rank = 0; rank < 2; ++rank) {
    run.Rank(rank).Owner(kReplicas, "0-1");
    for (const int step : {4, 8}) {
      run.Resume(step).Quantity(Quantity::kBufferDigest, "buffer", "norm.running_mean",
                                step + rank * other);
    }
  }
  return PlainOnly(run);
}

}  // namespace

Check DifferentBuffers() {
  return {
      .id = "distributed/different_buffers",
      .title = "Ranks evaluate with different BatchNorm buffers",
      .promise = "Ranks that evaluate one model use the same running statistics.",
      .why =
          "Predictions depend on the rank that computes them, and the saved model differs from the "
          "evaluated one.",
      .method =
          "Compares hashes of a model's floating-point buffers across ranks after the first batch "
          "of an evaluation. DDP may have broadcast the buffers before that point.",
      .fix =
          "Keep broadcast_buffers=True and evaluate through the DDP wrapper, evaluate on one rank "
          "only, or use SyncBatchNorm.",
      .limits =
          {.needs = "Two ranks that evaluate.",
           .silent_when =
               "Only one rank evaluates. Buffers without floating-point values are not compared.",
           .severity = "Warning if DDP never broadcasts buffers. Note if DDP broadcasts them in "
                       "training, because the wrapped module is then one batch apart. Note for "
                       "buffers that are not running statistics.",
           .blind_spots = "",
           .sensitivity = ""},
      .python = {.bad = R"(model = DistributedDataParallel(model, broadcast_buffers=False)
for epoch in range(epochs):
    train_one_epoch(model, loader, optimizer)
    evaluate(model, val_loader))",
                 .good = R"(model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
model = DistributedDataParallel(model)
for epoch in range(epochs):
    train_one_epoch(model, loader, optimizer)
    evaluate(model, val_loader))"},
      .cpp = {},
      .sources = {"PyTorch: DistributedDataParallel, broadcast_buffers"},
      .covers = {"different-buffers"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationBegan,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples =
          {
              {"equal buffers", Expect::kClean, [] { return Evaluated(0, false); }},
              {"equal buffers, never broadcast", Expect::kClean, [] { return Evaluated(0, true); }},
              {"different buffers, never broadcast", Expect::kWarning,
               [] { return Evaluated(0.5, true); }},
              {"buffers that differ since the last batch", Expect::kNote,
               [] { return Evaluated(0.5, false); }},
          },
  };
}

}  // namespace dlcheck::distributed
