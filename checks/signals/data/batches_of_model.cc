#include "checks/signals/data/batches_of_model.h"

namespace dlcheck {

std::map<std::string, BatchesOfModel> ByModel(const Batches& batches) {
  std::map<std::string, BatchesOfModel> models;
  for (const Batches::Batch& batch : batches.batches) {
    if (!batch.fingerprint) continue;
    BatchesOfModel& seen = models[batch.model];
    seen.different.insert(*batch.fingerprint);
    seen.first.emplace(batch.step, *batch.fingerprint);
    if (!batch.fetched) continue;
    const auto loader = batches.loaders.find(batch.fetched->loader);
    if (loader == batches.loaders.end() || loader->second.samples < 2 * batch.fetched->samples) {
      continue;
    }
    seen.fed = true;
    // An input of another size may not be the loader's batch: a whole graph, a grid.
    if (batch.size != batch.fetched->samples) continue;
    seen.steps.insert(batch.step);
    seen.places.insert(batch.fetched->place);
    seen.loader = batch.fetched->loader;
    seen.samples = batch.fetched->samples;
  }
  return models;
}

BatchesOfModel::Neighbors BatchesOfModel::Neighboring() const {
  Neighbors neighbors;
  for (const auto& [step, digest] : first) {
    const auto next = first.find(step + 1);
    if (next == first.end()) continue;
    ++neighbors.all;
    neighbors.same += next->second == digest;
  }
  return neighbors;
}

}  // namespace dlcheck
