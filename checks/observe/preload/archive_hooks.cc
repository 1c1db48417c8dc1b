// The hooks of calls that write a program's state into archives, or read it from them.
#include <torch/torch.h>

#include <map>
#include <string>
#include <utility>

#include "checks/observe/preload/hooks.h"

namespace dlcheck {
namespace {

using torch::optim::Optimizer;
using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

void SaveTo(OutputArchive* archive, const std::string& path) {
  OriginalOf<void(OutputArchive*, const std::string&)>(Entry::kSaveTo)(archive, path);
  Tell([&](Watcher& watcher) { watcher.Saved(path); });
}

void LoadFrom(InputArchive* archive, const std::string& path, std::optional<c10::Device> device) {
  using Original = void(InputArchive*, const std::string&, std::optional<c10::Device>);
  OriginalOf<Original>(Entry::kLoadFrom)(archive, path, std::move(device));
  Watcher::FileRead(path);
}

void ModuleSave(const torch::nn::Module* module, OutputArchive& archive) {
  thread_local int calls = 0;
  const Depth depth(calls);
  OriginalOf<void(const torch::nn::Module*, OutputArchive&)>(Entry::kModuleSave)(module, archive);
  if (depth.is_outermost()) Tell([](Watcher& watcher) { watcher.Stored("model"); });
}

void ModuleLoad(torch::nn::Module* module, InputArchive& archive) {
  thread_local int calls = 0;
  const Depth depth(calls);
  OriginalOf<void(torch::nn::Module*, InputArchive&)>(Entry::kModuleLoad)(module, archive);
  if (depth.is_outermost()) Watcher::ModuleRead(*module);
}

template <Entry entry>
void OptimizerSave(const Optimizer* optimizer, OutputArchive& archive) {
  OriginalOf<void(const Optimizer*, OutputArchive&)>(entry)(optimizer, archive);
  Tell([](Watcher& watcher) { watcher.Stored("optimizer"); });
}

template <Entry entry>
void OptimizerLoad(Optimizer* optimizer, InputArchive& archive) {
  OriginalOf<void(Optimizer*, InputArchive&)>(entry)(optimizer, archive);
  Tell([&](Watcher& watcher) { watcher.OptimizerRead(*optimizer); });
}

}  // namespace

void* ArchiveHookOf(Entry entry) {
  static const auto* hooks = new std::map<Entry, void*>{
      {Entry::kSaveTo, Address(&SaveTo)},
      {Entry::kLoadFrom, Address(&LoadFrom)},
      {Entry::kModuleSave, Address(&ModuleSave)},
      {Entry::kModuleLoad, Address(&ModuleLoad)},
      {Entry::kSgdSave, Address(&OptimizerSave<Entry::kSgdSave>)},
      {Entry::kSgdLoad, Address(&OptimizerLoad<Entry::kSgdLoad>)},
      {Entry::kAdamSave, Address(&OptimizerSave<Entry::kAdamSave>)},
      {Entry::kAdamLoad, Address(&OptimizerLoad<Entry::kAdamLoad>)},
      {Entry::kAdamWSave, Address(&OptimizerSave<Entry::kAdamWSave>)},
      {Entry::kAdamWLoad, Address(&OptimizerLoad<Entry::kAdamWLoad>)},
      {Entry::kRmspropSave, Address(&OptimizerSave<Entry::kRmspropSave>)},
      {Entry::kRmspropLoad, Address(&OptimizerLoad<Entry::kRmspropLoad>)},
      {Entry::kAdagradSave, Address(&OptimizerSave<Entry::kAdagradSave>)},
      {Entry::kAdagradLoad, Address(&OptimizerLoad<Entry::kAdagradLoad>)},
      {Entry::kLbfgsSave, Address(&OptimizerSave<Entry::kLbfgsSave>)},
      {Entry::kLbfgsLoad, Address(&OptimizerLoad<Entry::kLbfgsLoad>)},
  };
  const auto found = hooks->find(entry);
  return found == hooks->end() ? nullptr : found->second;
}

}  // namespace dlcheck
