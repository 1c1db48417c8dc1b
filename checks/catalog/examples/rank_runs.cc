#include "checks/catalog/examples/rank_runs.h"

#include <algorithm>
#include <string>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/text.h"

namespace dlcheck {
namespace {

void AddStepOf(const RankRun& run, const RankStep& step, RunBuilder& records) {
  const std::string group = StrCat("0-", run.processes - 1);
  const double weights = step.weights == 0 ? static_cast<double>(records.step() + 1) : step.weights;
  records.Owner(run.kind, group);
  if (step.fetches) records.Event(Event::kFetched, 0, "loader", "");
  if (step.batch != 0) records.Quantity(Quantity::kBatchFingerprint, "model", "Net", step.batch);
  if (step.drawn != 0) records.Quantity(Quantity::kDrawnMasks, "generator", "torch", step.drawn);
  records.Quantity(Quantity::kLoss, "loss", "cross_entropy", step.loss, 32);
  if (step.own_time > 0) records.Quantity(Quantity::kOwnTime, "", "", step.own_time);
  if (step.step_time > 0) records.Quantity(Quantity::kStepTime, "", "", step.step_time);
  for (int pass = 0; pass < std::max(step.passes, 1); ++pass) {
    const bool shares = pass + 1 < step.passes ? pass < step.sharing : step.last_shares;
    if (step.passes > 0 && run.kind == kReplicas)
      records.Event(Event::kSharedForward, shares ? 1 : 0);
    records.Quantity(Quantity::kLossShare, "loss", "cross_entropy",
                     step.share / std::max(step.passes, 1), step.targets);
    if (step.makes_backward) records.Event(Event::kBackward, 0, "loss", "cross_entropy");
    const bool clears = step.clears_between && pass + 1 < step.passes;
    if (clears) records.Event(Event::kCleared, 0, "optimizer", "optimizer#0");
  }
  records.Quantity(Quantity::kReplicaDigest, "parameter", "trunk.weight", weights);
  if (run.head_is_beside) records.Owner(kPeers, group);
  records.Quantity(Quantity::kReplicaDigest, "parameter", "head.weight",
                   step.head == 0 ? weights : step.head);
  records.Owner("optimizer", "optimizer#0");
  records.Quantity(Quantity::kGradientNorm, "parameter", "trunk.weight", step.gradient);
  records.Quantity(Quantity::kGradientNorm, "parameter", "head.weight",
                   step.head_gradient == 0 ? step.gradient : step.head_gradient);
  records.Quantity(Quantity::kLearningRate, "group", "optimizer#0/group#0", step.rate);
  if (step.makes_step) records.Event(Event::kStep, 0, "optimizer", "optimizer#0");
  records.Owner("");
}

}  // namespace

RunBuilder OfRanks(const RankRun& run) {
  RunBuilder records = TwoLayers();
  records.Process("world_size", StrCat(run.processes));
  if (run.kind == kReplicas) {
    records.Attribute(kReplicas, StrCat("0-", run.processes - 1), "wrapped", "1");
  }
  for (uint16_t rank = 0; rank < run.processes; ++rank) {
    records.Rank(rank);
    for (int step = 0; step < run.steps; ++step) AddStepOf(run, run.step(rank, step), records);
  }
  return records;
}

}  // namespace dlcheck
