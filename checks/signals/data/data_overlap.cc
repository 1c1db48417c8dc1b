#include "checks/signals/data/data_overlap.h"

#include <algorithm>
#include <optional>
#include <set>

#include "checks/engine/status.h"
#include "checks/signals/data/batches.h"
#include "checks/signals/evaluation/evaluation_passes.h"

namespace dlcheck {
namespace {

// Fewer steps between forwards without gradients make them a part of the steps.
constexpr int64_t kStepsPerEvaluation = 4;

// The loader that feeds training, if there is one alone and its length is known.
std::optional<ThingId> TrainingLoader(const Batches& batches) {
  std::set<ThingId> loaders;
  std::set<std::string> models;
  for (const Batches::Batch& batch : batches.batches) {
    if (!batch.fingerprint) continue;
    models.insert(batch.model);
    if (!batch.fetched) return std::nullopt;
    loaders.insert(batch.fetched->loader);
  }
  if (loaders.size() != 1 || models.size() != 1) return std::nullopt;
  const auto known = batches.loaders.find(*loaders.begin());
  const bool has_length =
      known != batches.loaders.end() && known->second.samples > 0 && known->second.batch_size > 0;
  return has_length ? std::optional<ThingId>(known->first) : std::nullopt;
}

struct Iteration {
  int64_t step = 0;  // of its last batch
  double samples = 0;
};

// The first iteration in which all of the loader's samples were trained on; none if no whole one
// was seen. The last few, too few for a batch, may be dropped.
std::optional<Iteration> LookedAtAll(const Batches& batches, const Batches::Loader& loader) {
  constexpr double kMostRows = 256;  // of a batch, that a probe looks at
  if (loader.batch_size > kMostRows) return std::nullopt;
  std::optional<Iteration> found;
  double seen = 0;
  int64_t next_place = 0;
  for (const Batches::Batch& batch : batches.batches) {
    if (!batch.fetched || !batch.fingerprint) continue;
    if (batch.fetched->place != next_place && found) break;
    if (batch.fetched->place == 0) next_place = 0, seen = 0;
    if (batch.fetched->place != next_place) continue;
    ++next_place;
    seen += batch.fetched->samples;
    if (seen > loader.samples - loader.batch_size) found = {batch.step, seen};
  }
  return found;
}

bool IsOfOneOtherLoader(const EvaluationPasses::Pass& pass, ThingId training) {
  return pass.trained >= 0 && pass.fed == pass.batches && pass.loaders.size() == 1 &&
         !pass.loaders.contains(training) && pass.models.size() == 1;
}

}  // namespace

absl::StatusOr<DataOverlap> DataOverlap::From(const Run& run) {
  DLCHECK_ASSIGN_OR_RETURN(const Batches batches, Batches::From(run));
  DLCHECK_ASSIGN_OR_RETURN(const EvaluationPasses evaluations, EvaluationPasses::From(run));
  const auto passes = static_cast<int64_t>(evaluations.passes.size());
  if (evaluations.optimizers != 1 || evaluations.loads_later ||
      passes * kStepsPerEvaluation > evaluations.steps) {
    return absl::FailedPreconditionError(
        "needs one model that is created once, trained and then evaluated");
  }
  const std::optional<ThingId> training = TrainingLoader(batches);
  if (!training) {
    return absl::FailedPreconditionError(
        "needs one training DataLoader of known length that alone feeds the model");
  }
  const Batches::Loader& loader = batches.loaders.at(*training);
  DataOverlap overlap{.evaluations = {}, .training_samples = loader.samples, .left_out = 0};
  const std::optional<Iteration> first = LookedAtAll(batches, loader);
  if (!first) return overlap;
  overlap.left_out = std::max(0.0, loader.samples - first->samples);
  for (const EvaluationPasses::Pass& pass : evaluations.passes) {
    if (pass.step <= first->step || !IsOfOneOtherLoader(pass, *training)) continue;
    overlap.evaluations.push_back({.step = pass.step,
                                   .loader = run.trace.Display(*pass.loaders.begin()),
                                   .trained = pass.trained,
                                   .different = pass.different,
                                   .repeated = pass.repeated,
                                   .rows = pass.rows});
  }
  return overlap;
}

}  // namespace dlcheck
