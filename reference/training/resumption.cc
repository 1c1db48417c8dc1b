#include "reference/training/resumption.h"

#include <cstdio>

#include "reference/checkpoint/checkpoint_folder.h"
#include "reference/checkpoint/durable_file.h"
#include "reference/recipe/rejection.h"

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
  manifest.recipe = DecidingKeys(training.plan.recipe);
  return manifest;
}

// The step and the micro-batch belong to the manifest too; what a fault forgets of them stays zero.
void Restore(Training& training, CheckpointFolder::Loaded loaded) {
  DropForgotten(training, loaded.state);
  dlcheck::reference::Restore(loaded.path, loaded.state, RestoredParts(training));
  training.model.module->train();
  if (training.observer.loaded) training.observer.loaded(loaded.path, StateOf(PartsOf(training)));
  std::printf("going on from '%s'\n", loaded.path.c_str());
}

}  // namespace

void Begin(Training& training) {
  const Recipe& recipe = training.plan.recipe;
  if (!recipe.checkpoints.empty()) {
    const CheckpointFolder folder(recipe.checkpoints);
    if (recipe.resume) {
      std::optional<CheckpointFolder::Loaded> loaded = folder.Newest(recipe);
      if (loaded) Restore(training, *std::move(loaded));
    } else if (!folder.List().empty()) {
      throw UsageError("checkpoints '" + recipe.checkpoints + "' holds " +
                       folder.List().back().name +
                       "; give --resume to go on from it, or another folder");
    }
  }
  const Counters& counters = training.counters;
  training.log = std::make_unique<RunLog>(recipe.log, counters.step, counters.evaluated());
}

void PruneCheckpoints(const Training& training) {
  const Recipe& recipe = training.plan.recipe;
  if (recipe.checkpoints.empty()) return;
  CheckpointFolder(recipe.checkpoints)
      .Prune(recipe.keep_last, BestSteps(training.counters.metrics, recipe.keep_best));
}

bool SaveCheckpoint(Training& training) {
  const Recipe& recipe = training.plan.recipe;
  if (recipe.checkpoints.empty()) return true;
  NamedTensors state = StateOf(PartsOf(training));
  const NamedTensors as_it_is = state;
  LoseLowBits(training, state);
  try {
    const std::string path =
        CheckpointFolder(recipe.checkpoints).Write(ManifestOf(training), state);
    Tell(training.observer.saved, path + "/" + kStateFile, as_it_is);
    PruneCheckpoints(training);
    return true;
  } catch (const SavingFailed& failure) {
    std::fprintf(stderr, "dlcheck-train: no checkpoint at step %lld: %s\n",
                 static_cast<long long>(training.counters.step), failure.what());
    return false;
  }
}

void SaveState(Training& training, const std::string& path) {
  const NamedTensors state = StateOf(PartsOf(training));
  const std::string unfinished = path + ".unfinished";
  WriteDurably(unfinished, TensorFileBytes(state));
  Rename(unfinished, path);
  Tell(training.observer.saved, path, state);
}

}  // namespace dlcheck::reference
