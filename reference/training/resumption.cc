#include "reference/training/resumption.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "reference/checkpoint/checkpoint_folder.h"
#include "reference/checkpoint/durable_file.h"
#include "reference/recipe/rejection.h"
#include "reference/training/data_digest.h"
#include "reference/training/shared_checkpoint.h"

namespace dlcheck::reference {
namespace {

// The parts that come back; a fault may forget some, which then stay as a fresh run has them.
std::vector<StatePart> RestoredParts(Training& training) {
  const std::set<std::string>& forgotten = training.plan.deviations.forgotten;
  std::vector<StatePart> parts;
  for (const StatePart& part : PartsOf(training)) {
    if (forgotten.count(part.name) == 0) parts.push_back(part);
  }
  return parts;
}

void DropForgotten(const Training& training, std::map<std::string, torch::Tensor>& state) {
  for (const std::string& name : training.plan.deviations.forgotten) {
    std::erase_if(state, [&](const auto& entry) { return entry.first.rfind(name + "/", 0) == 0; });
  }
}

void LoseLowBits(const Training& training, NamedTensors& state) {
  const std::string& part = training.plan.deviations.saved_in_bf16;
  if (part.empty()) return;
  for (auto& [name, tensor] : state) {
    if (name.rfind(part + "/", 0) != 0 || !tensor.is_floating_point()) continue;
    tensor = tensor.detach().to(at::kBFloat16).to(tensor.scalar_type());
  }
}

Manifest ManifestOf(const Training& training) {
  Manifest manifest;
  manifest.step = training.counters.step;
  manifest.micro = training.counters.micro;
  manifest.recipe = training.files.deciding;
  return manifest;
}

// The step and the micro-batch belong to the manifest too; what a fault forgets of them stays zero.
void Restore(Training& training, CheckpointFolder::Loaded loaded) {
  DropForgotten(training, loaded.state);
  dlcheck::reference::Restore(loaded.path, loaded.state, RestoredParts(training));
  training.model.module->train();
  if (training.distributed.sharded_parameters) training.distributed.sharded_parameters->Refresh();
  if (training.observer.loaded) training.observer.loaded(loaded.path, StateOf(PartsOf(training)));
  if (training.distributed.ranks.is_first())
    std::printf("going on from '%s'\n", loaded.path.c_str());
}

// Noticed before the first step and not after the last.
std::unique_ptr<FolderLock> Locked(const std::string& path) {
  try {
    MakeFolders(path);
    return std::make_unique<FolderLock>(path);
  } catch (const SavingFailed& failure) {
    throw UsageError("checkpoints cannot be kept there: " + std::string(failure.what()));
  }
}

// A file that one key reads or writes must not be overwritten for another.
void RefuseSharedPaths(const Recipe& recipe) {
  const std::pair<const char*, const std::string&> paths[] = {{"data", recipe.data},
                                                              {"checkpoints", recipe.checkpoints},
                                                              {"save", recipe.save},
                                                              {"log", recipe.log}};
  for (const auto& [one, first] : paths) {
    for (const auto& [other, second] : paths) {
      if (one != other && !first.empty() && first == second) {
        throw UsageError(std::string(one) + " and " + other + " are both '" + first + "'");
      }
    }
  }
}

// The parts that differ by rank.
std::set<std::string> PartsByRank(Training& training) {
  std::set<std::string> names;
  for (const StatePart& part : PartsOf(training)) {
    if (part.differs_by_rank) names.insert(part.name);
  }
  return names;
}

// Every rank must have found the same checkpoint, or none.
void RefuseOtherPlace(const Training& training) {
  const Counters& counters = training.counters;
  const std::string own =
      "step " + std::to_string(counters.step) + ", micro-batch " + std::to_string(counters.micro);
  const std::vector<std::string> all = training.distributed.ranks.Texts(own);
  for (size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    throw UsageError("rank " + std::to_string(rank) + " goes on from " + all[rank] +
                     ", but rank 0 from " + all[0] + ": all are to see one folder of checkpoints");
  }
}

// What goes into this rank's file: all of the first rank, of another what differs there.
std::vector<StatePart> OwnParts(Training& training) {
  std::vector<StatePart> parts = PartsOf(training);
  if (!training.distributed.ranks.is_first()) {
    std::erase_if(parts, [](const StatePart& part) { return !part.differs_by_rank; });
  }
  return parts;
}

// What the optimizer holds for a parameter that is shared out, put together from all ranks. All
// have the same kinds of it, but none for a parameter of which they keep nothing.
NamedTensors WholeOptimizerState(Training& training) {
  std::map<std::string, torch::Tensor> own;
  training.optimizer->VisitState(
      [&](const std::string& name, torch::Tensor& tensor) { own[name] = tensor; });
  NamedTensors whole;
  for (const char* kind : {"momentum/", "first/", "second/", "largest/", "master/"}) {
    for (const Shards::Part& part : training.distributed.shards->parts()) {
      const std::string name = kind + part.name;
      const auto found = own.find(name);
      torch::Tensor held = found == own.end() ? torch::Tensor() : found->second;
      const double type = training.distributed.ranks.Largest(
          held.defined() ? static_cast<double>(held.scalar_type()) : -1);
      if (type < 0) continue;
      if (!held.defined()) held = at::empty({0}, static_cast<at::ScalarType>(type));
      whole.emplace_back("optimizer/" + name, training.distributed.shards->Whole(part, held));
    }
  }
  for (const auto& [name, tensor] : own) {
    if (name.rfind("steps/", 0) == 0) whole.emplace_back("optimizer/" + name, tensor);
  }
  return whole;
}

// In the place of what this rank keeps of a parameter, and of its average, the whole. All ranks
// have the same names in one order.
void PutModelTogether(const Training& training, NamedTensors& state) {
  std::map<std::string, const Shards::Part*> parts;
  for (const auto& parameter : training.model.module->named_parameters()) {
    for (const char* kind : {"model/", "average/average/"}) {
      parts[kind + parameter.key()] =
          training.distributed.model_shards()->PartOf(parameter.value());
    }
  }
  for (auto& [name, tensor] : state) {
    const auto found = parts.find(name);
    if (found == parts.end() || found->second == nullptr) continue;
    tensor = training.distributed.shards->Whole(*found->second, tensor.detach());
  }
}

// The state as a run that is alone has it. All ranks call; that of the first is whole.
NamedTensors WholeState(Training& training) {
  NamedTensors state = StateOf(PartsOf(training));
  if (!training.distributed.shards) return state;
  if (training.distributed.sharded_parameters) PutModelTogether(training, state);
  std::erase_if(state, [](const auto& entry) { return entry.first.rfind("optimizer/", 0) == 0; });
  for (auto& entry : WholeOptimizerState(training)) state.push_back(std::move(entry));
  return state;
}

// Metrics at the steps of which there is a checkpoint, as selection looks at them.
MetricTable SavedMetrics(const Training& training) {
  const Recipe& recipe = training.plan.recipe;
  std::set<int64_t> saved;
  for (const auto& place : CheckpointFolder(recipe.checkpoints).List()) {
    if (place.micro == 0) saved.insert(place.step);
  }
  MetricTable metrics = Smoothed(training.counters.metrics, recipe.select_window);
  std::erase_if(metrics, [&](const Evaluation& at) { return saved.count(at.step) == 0; });
  return metrics;
}

}  // namespace

std::optional<int64_t> BestCheckpoint(const Training& training) {
  if (training.plan.recipe.checkpoints.empty()) return std::nullopt;
  const std::vector<int64_t> best = BestSteps(SavedMetrics(training), 1);
  return best.empty() ? std::nullopt : std::optional(best.front());
}

void Begin(Training& training) {
  const Recipe& recipe = training.plan.recipe;
  RefuseSharedPaths(recipe);
  if (!recipe.checkpoints.empty()) {
    const CheckpointFolder folder(recipe.checkpoints);
    if (training.distributed.ranks.is_first()) training.files.lock = Locked(recipe.checkpoints);
    training.files.deciding = DecidingKeys(recipe);
    training.files.deciding["nproc"] = std::to_string(training.distributed.ranks.world());
    training.files.deciding["data-digest"] = DigestOfFile(DataPath(recipe));
    if (recipe.resume) {
      std::optional<CheckpointFolder::Loaded> loaded = folder.Newest(
          training.files.deciding, training.distributed.ranks.rank(), PartsByRank(training));
      if (loaded) Restore(training, *std::move(loaded));
    } else if (!folder.List().empty()) {
      throw UsageError("checkpoints '" + recipe.checkpoints + "' holds " +
                       folder.List().back().name +
                       "; give --resume to go on from it, or another folder");
    }
  }
  RefuseOtherPlace(training);
  const Counters& counters = training.counters;
  if (counters.step > recipe.steps) {
    throw UsageError("steps is " + std::to_string(recipe.steps) + ", but the checkpoint has " +
                     std::to_string(counters.step) + " done");
  }
  training.files.log = std::make_unique<RunLog>(
      training.distributed.ranks.is_first() ? recipe.log : "", counters.step, counters.evaluated());
}

void PruneCheckpoints(const Training& training) {
  const Recipe& recipe = training.plan.recipe;
  if (recipe.checkpoints.empty() || !training.distributed.ranks.is_first()) return;
  CheckpointFolder(recipe.checkpoints)
      .Prune(recipe.keep_last, BestSteps(SavedMetrics(training), recipe.keep_best));
}

bool SaveCheckpoint(Training& training) {
  const Recipe& recipe = training.plan.recipe;
  if (recipe.checkpoints.empty()) return true;
  NamedTensors state = StateOf(OwnParts(training));
  const NamedTensors as_it_is = state;
  LoseLowBits(training, state);
  try {
    const std::string path =
        WriteTogether(training.distributed.ranks, CheckpointFolder(recipe.checkpoints),
                      ManifestOf(training), state);
    Tell(training.observer.saved, path + "/" + FileOfRank(training.distributed.ranks.rank()),
         as_it_is);
    PruneCheckpoints(training);
    return true;
  } catch (const SavingFailed& failure) {
    if (training.distributed.ranks.is_first()) {
      std::fprintf(stderr, "dlcheck-train: no checkpoint at step %lld: %s\n",
                   static_cast<long long>(training.counters.step), failure.what());
    }
    return false;
  }
}

void SaveState(Training& training, const std::string& path) {
  const NamedTensors state = WholeState(training);
  if (!training.distributed.ranks.is_first()) return;
  const std::string unfinished = path + ".unfinished";
  try {
    WriteDurably(unfinished, TensorFileBytes(state));
    Rename(unfinished, path);
  } catch (const SavingFailed&) {
    std::remove(unfinished.c_str());
    throw;
  }
  Tell(training.observer.saved, path, state);
}

}  // namespace dlcheck::reference
