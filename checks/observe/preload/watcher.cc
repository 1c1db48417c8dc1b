#include "checks/observe/preload/watcher.h"

#include <optional>
#include <typeinfo>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/pending_models.h"
#include "checks/observe/probe/guarded.h"
#include "checks/records/request.h"

namespace dlcheck {
namespace {

thread_local bool is_inside = false;
thread_local bool is_watched_thread = false;

// The request of this process; none outside of `dlcheck run`, and after another probe took over.
std::optional<Request>& RequestOfProcess() {
  static auto* request = new std::optional<Request>(RequestFromEnvironment());
  return *request;
}

std::unique_ptr<Watcher>& TheOnly() {
  static auto* only = new std::unique_ptr<Watcher>;
  return *only;
}

// Closes the records as the watched thread ends: before the variables of this thread that torch
// made earlier are gone, which callbacks are removed from.
struct EndOfThread {
  ~EndOfThread() { TheOnly().reset(); }
};
thread_local std::optional<EndOfThread> end_of_thread;

PendingModels& Pending() {
  static auto* pending = new PendingModels;
  return *pending;
}

Probe::Options WithCapabilities() {
  Probe::Options options;
  options.capabilities = "plain same_seed";
  return options;
}

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

Watcher::Inside::Inside() : before_(std::exchange(is_inside, true)) {}
Watcher::Inside::~Inside() { is_inside = before_; }

Watcher* Watcher::Here() { return is_watched_thread && !is_inside ? TheOnly().get() : nullptr; }

Watcher* Watcher::Begin() {
  if (is_inside || !RequestOfProcess().has_value()) return nullptr;
  if (TheOnly() != nullptr) return Here();
  const Inside inside;
  std::unique_ptr<ProbeRecorder> recorder =
      ProbeRecorder::Create(*RequestOfProcess(), WithCapabilities());
  if (recorder == nullptr) {
    RequestOfProcess().reset();
    return nullptr;
  }
  is_watched_thread = true;
  TheOnly() = std::make_unique<Watcher>(*RequestOfProcess(), std::move(recorder));
  end_of_thread.emplace();
  return TheOnly().get();
}

Watcher* Watcher::BeginWithModel() {
  if (TheOnly() != nullptr) return Here();
  if (is_inside || Pending().empty()) return nullptr;
  Watcher* watcher = Begin();
  if (watcher != nullptr) watcher->WatchModels();
  return watcher;
}

void Watcher::EndAll() {
  RequestOfProcess().reset();
  is_watched_thread = false;
}

Watcher::Watcher(const Request&, std::unique_ptr<ProbeRecorder> recorder)
    : recorder_(std::move(recorder)), operations_(*recorder_) {
  operations_.Update();
}

void Watcher::SawModel(const torch::nn::Module& model) {
  if (is_inside || !RequestOfProcess().has_value()) return;
  const Inside inside;
  Pending().Saw(model);
}

void Watcher::WatchModels() {
  const Inside inside;
  Guarded(recorder_.get(), [](ProbeRecorder& recorder) {
    for (const ModelTree& tree : Pending().Take()) {
      recorder.Watch(tree);
      for (const ModelTree::Module& module : tree.modules) {
        recorder.models().TellMode(module.address, module.is_training);
      }
    }
  });
}

void Watcher::ModeSet(const torch::nn::Module& module, bool is_training, bool is_outermost) {
  const Inside inside;
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    recorder.models().TellMode(&module, is_training);
    if (!is_outermost || !recorder.models().IsFirst(&module)) return;
    recorder.PutEvent(Event::kMode, CallSite(), is_training ? 1 : 0);
  });
}

void Watcher::OptimizerBuilt(const torch::optim::Optimizer& optimizer) {
  const auto known = optimizers_.find(&optimizer);
  if (known != optimizers_.end()) {
    *known->second.alive = nullptr;
    optimizers_.erase(known);
  }
  WatchModels();
  const Inside inside;
  last_built_ = built_[&optimizer] = CallSite();
}

int Watcher::NumberOf(torch::optim::Optimizer& optimizer) {
  const auto known = optimizers_.find(&optimizer);
  if (known != optimizers_.end()) return known->second.number;
  WatchModels();
  const auto alive = std::make_shared<const torch::optim::Optimizer*>(&optimizer);
  std::vector<Probe::Group> groups;
  std::vector<at::Tensor> parameters;
  for (size_t i = 0; i < optimizer.param_groups().size(); ++i) {
    Probe::Group group;
    for (const torch::Tensor& parameter : optimizer.param_groups()[i].params()) {
      group.parameters.emplace_back("", parameter);
      parameters.push_back(parameter);
    }
    group.rate = [alive, i]() -> double {
      if (*alive == nullptr || i >= (*alive)->param_groups().size()) return 0;
      return (*alive)->param_groups()[i].options().get_lr();
    };
    groups.push_back(std::move(group));
  }
  Probe::Rule rule;
  rule.keeps_state = [alive] { return *alive != nullptr && !(*alive)->state().empty(); };
  int number = 0;
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    std::string type = c10::demangle(typeid(optimizer).name());
    number = recorder.Optimizes(type, std::move(groups), std::move(rule));
    // One that was moved lies elsewhere than where it was built.
    const auto built = built_.find(&optimizer);
    recorder.OptimizerBuilt(number, built == built_.end() ? last_built_ : built->second);
  });
  optimizers_[&optimizer] = {number, alive};
  if (!IsOfLibTorch(optimizer)) unseen_.Add(number, parameters);
  return number;
}

int Watcher::BeginStep(torch::optim::Optimizer& optimizer) {
  const Inside inside;
  operations_.TrainingGoesOn();
  const int number = NumberOf(optimizer);
  operations_.SetStepping(true);
  in_step_ = true;
  unseen_.StepSeen();
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.BeginStep(number); });
  return number;
}

void Watcher::Consume(int number) {
  const Inside inside;
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.Consume(number); });
}

void Watcher::AfterStep(int number) {
  const Inside inside;
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    recorder.AfterStep(number, recorder.clock().sampled() ? CallSite() : Probe::Site{"", 0, ""},
                       /*taken=*/true);
  });
  operations_.Update();
}

void Watcher::ZeroingBegins() {
  const Inside inside;
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { unseen_.Infer(recorder); });
  operations_.Update();
}

void Watcher::LeaveStep() {
  in_step_ = false;
  operations_.SetStepping(false);
}

void Watcher::BackwardEnds() {
  if (in_step_) return;  // the closure is called again with other weights
  const Inside inside;
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { unseen_.BackwardEnds(recorder); });
}

void Watcher::Cleared(torch::optim::Optimizer& optimizer) {
  const Inside inside;
  const int number = NumberOf(optimizer);
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    recorder.Cleared(number, recorder.clock().sampled() ? CallSite() : Probe::Site{"", 0, ""});
  });
}

void Watcher::BackwardBegins(const std::vector<at::Tensor>& roots) {
  const Inside inside;
  operations_.TrainingGoesOn();
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { unseen_.Infer(recorder); });
  operations_.Update();
  operations_.ExpectBatch();
  if (roots.empty() || !roots.front().defined()) return;
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    recorder.BackwardFrom(roots.front(),
                          recorder.clock().sampled() ? CallSite() : Probe::Site{"", 0, ""});
  });
}

void Watcher::GradModeSet() {
  const Inside inside;
  if (at::GradMode::is_enabled()) operations_.TrainingGoesOn();
  operations_.Update();
}

void Watcher::SchedulerBuilt(torch::optim::Optimizer& optimizer) {
  const Inside inside;
  const int number = NumberOf(optimizer);
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    recorder.PutOfScheduler(Event::kScheduler, number, CallSite(), 0);
  });
}

void Watcher::Scheduled(torch::optim::Optimizer& optimizer) {
  const Inside inside;
  const int number = NumberOf(optimizer);
  if (optimizer.param_groups().empty()) return;
  const double rate = optimizer.param_groups()[0].options().get_lr();
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    const bool sampled = recorder.clock().sampled();
    recorder.PutOfScheduler(Event::kSchedule, number,
                            sampled ? CallSite() : Probe::Site{nullptr, 0, nullptr}, rate);
  });
}

void Watcher::Saved(const std::string& path) {
  const Inside inside;
  Guarded(recorder_.get(),
          [&](ProbeRecorder& recorder) { recorder.PutFileEvent(Event::kSaved, path); });
}

void Watcher::Loaded(const std::string& path) {
  const Inside inside;
  Guarded(recorder_.get(),
          [&](ProbeRecorder& recorder) { recorder.PutFileEvent(Event::kLoaded, path); });
}

}  // namespace dlcheck
