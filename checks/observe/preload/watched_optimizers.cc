// The part of the watcher that is about optimizers: what it tells the recorder of one that it
// meets, and of their schedulers.
#include <typeinfo>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/optimizer_rules.h"
#include "checks/observe/preload/watcher.h"
#include "checks/observe/probe/guarded.h"

namespace dlcheck {
namespace {

// What is watched stays in memory: a program that builds one model after the other is watched for
// the first of them alone.
constexpr size_t kMostHeld = 64;  // models and optimizers
constexpr uint64_t kMostBytes = uint64_t{4} << 30;

// One whose steps are entries.
bool IsOfLibTorch(const torch::optim::Optimizer& optimizer) {
  return dynamic_cast<const torch::optim::SGD*>(&optimizer) != nullptr ||
         dynamic_cast<const torch::optim::Adam*>(&optimizer) != nullptr ||
         dynamic_cast<const torch::optim::AdamW*>(&optimizer) != nullptr ||
         dynamic_cast<const torch::optim::RMSprop*>(&optimizer) != nullptr ||
         dynamic_cast<const torch::optim::Adagrad*>(&optimizer) != nullptr ||
         dynamic_cast<const torch::optim::LBFGS*>(&optimizer) != nullptr;
}

}  // namespace

bool Watcher::HasRoomFor(const std::vector<at::Tensor>& tensors) {
  uint64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) {
    if (recorder_->models().Find(tensor) == nullptr) bytes += tensor.nbytes();
  }
  const bool is_full = held_ >= kMostHeld || (bytes > 0 && held_bytes_ + bytes > kMostBytes);
  if (held_ > 0 && is_full) return false;
  ++held_;
  held_bytes_ += bytes;
  return true;
}

int Watcher::NumberOf(torch::optim::Optimizer& optimizer) {
  const auto known = optimizers_.find(&optimizer);
  if (known != optimizers_.end()) return known->second.number;
  WatchModels();
  std::vector<at::Tensor> all;
  for (auto& group : optimizer.param_groups()) {
    all.insert(all.end(), group.params().begin(), group.params().end());
  }
  if (!HasRoomFor(all)) return kUnwatched;
  const auto alive = std::make_shared<const torch::optim::Optimizer*>(&optimizer);
  std::vector<Probe::Group> groups = GroupsOf(optimizer, alive);
  Probe::Rule rule = RuleOf(optimizer, alive);
  int number = 0;
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    equal_rows_.Meet(all);
    std::string type = c10::demangle(typeid(optimizer).name());
    number = recorder.Optimizes(type, std::move(groups), std::move(rule));
    // One that was moved lies elsewhere than where it was built.
    const auto built = built_.find(&optimizer);
    recorder.OptimizerBuilt(number, built == built_.end() ? last_built_ : built->second);
  });
  optimizers_[&optimizer] = {number, alive};
  if (!IsOfLibTorch(optimizer)) {
    if (experiment_ != nullptr) experiment_->MeetsOwnOptimizer();
    unseen_.Add(number, all);
  }
  return number;
}

void Watcher::SchedulerBuilt(torch::optim::Optimizer& optimizer) {
  const Inside inside;
  const int number = NumberOf(optimizer);
  if (number == kUnwatched) return;
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    recorder.PutOfScheduler(Event::kScheduler, number, CallSite(), 0);
  });
}

void Watcher::Scheduled(torch::optim::Optimizer& optimizer) {
  const Inside inside;
  const int number = NumberOf(optimizer);
  if (number == kUnwatched) return;
  if (optimizer.param_groups().empty()) return;
  const double rate = optimizer.param_groups()[0].options().get_lr();
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    const bool sampled = recorder.clock().sampled();
    recorder.PutOfScheduler(Event::kSchedule, number,
                            sampled ? CallSite() : Probe::Site{nullptr, 0, nullptr}, rate);
  });
  if (experiment_ != nullptr) experiment_->Scheduled(optimizer);
}

}  // namespace dlcheck
