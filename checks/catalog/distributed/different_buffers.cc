#include "checks/catalog/example_runs.h"
#include "checks/catalog/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/rank_buffers.h"

namespace dlcheck::distributed {
namespace {

using Buffer = RankBuffers::Buffer;

Finding FindingOf(const RankBuffers::Group& group, const std::vector<const Buffer*>& found) {
  const Buffer& first = *found.front();
  std::vector<Place> places;
  for (const Buffer* buffer : found) {
    places.push_back({.thing = buffer->name, .rank = buffer->odd.front(), .file = ""});
  }
  return {.severity = group.never_sent ? Severity::kWarning : Severity::kNote,
          .message =
              StrCat("Ranks ", group.name, " evaluate with ",
                     found.size() == 1 ? "a buffer" : StrCat(found.size(), " buffers"),
                     " of their own: ", first.name, " is another on ", RanksText(first.odd), " in ",
                     first.differing, " of ", Counted(first.evaluations, "evaluation"),
                     group.never_sent ? ", and the wrapper sends none (broadcast_buffers)." : "."),
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

// Two evaluations of both processes.
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
      .promise = "Processes that evaluate one model do so with the same running statistics.",
      .why =
          "What a sample is answered depends on the process that is asked, and the model that is "
          "saved is not the one that was evaluated.",
      .method =
          "Digests of the floating buffers of a model after the first batch of an evaluation, "
          "which "
          "a wrapper may have sent before: another on some processes of a group.",
      .fix =
          "Leave broadcast_buffers at True and evaluate through the wrapper, evaluate on one "
          "process "
          "alone, or take SyncBatchNorm.",
      .limits =
          "A note where the wrapper sends buffers in training: those of the module in it are then "
          "apart by one batch; and for buffers that are no running statistics. Silent where one "
          "process evaluates, and of buffers that are no "
          "floating numbers.",
      .sources = {"PyTorch: DistributedDataParallel, broadcast_buffers"},
      .covers = {"X12"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationBegan,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples =
          {
              {"the same", Expect::kClean, [] { return Evaluated(0, false); }},
              {"the same, never sent", Expect::kClean, [] { return Evaluated(0, true); }},
              {"others, never sent", Expect::kFaulty, [] { return Evaluated(0.5, true); }},
              {"others since the last batch", Expect::kFaulty,
               [] { return Evaluated(0.5, false); }},
          },
  };
}

}  // namespace dlcheck::distributed
