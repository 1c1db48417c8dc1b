#include "checks/observe/preload/watcher.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/pending_models.h"
#include "checks/observe/preload/process_request.h"
#include "checks/observe/probe/guarded.h"

namespace dlcheck {
namespace {

constexpr int kMostLateModels = 4;

thread_local bool is_inside = false;
thread_local bool is_watched_thread = false;

std::unique_ptr<Watcher>& TheOnly() {
  static auto* only = new std::unique_ptr<Watcher>;
  return *only;
}

// Closes the records as the watched thread ends: before the variables of this thread that torch
// made earlier are gone, which callbacks are removed from.
struct EndOfThread {
  ~EndOfThread() { Watcher::EndOfThread(); }
};
thread_local std::optional<EndOfThread> end_of_thread;

// Guards what several threads may ask for: the models that wait, and the only watcher.
std::mutex& Lock() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

// The process of the only watcher. A child may share its memory until it ends.
pid_t owner_process = 0;

// Whether this thread blocks a signal that the program handles, as it does within the handler.
bool MayBeInHandler() {
  sigset_t blocked;
  if (pthread_sigmask(SIG_BLOCK, nullptr, &blocked) != 0) return true;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action;
    if (sigismember(&blocked, number) != 1 || sigaction(number, nullptr, &action) != 0) continue;
    if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) return true;
  }
  return false;
}

PendingModels& Pending() {
  static auto* pending = new PendingModels;
  return *pending;
}

Probe::Options WithCapabilities() {
  Probe::Options options;
  options.capabilities = std::string("plain same_seed interrupted resumed ") + kProgramExperiments;
  return options;
}

}  // namespace

Watcher::Inside::Inside() : before_(std::exchange(is_inside, true)) {}
Watcher::Inside::~Inside() { is_inside = before_; }

Watcher* Watcher::Here() { return is_watched_thread && !is_inside ? TheOnly().get() : nullptr; }

Watcher* Watcher::Begin() noexcept try {
  if (is_inside) return nullptr;
  const Inside inside;
  const std::lock_guard<std::mutex> lock(Lock());
  if (!RequestOfProcess().has_value()) return nullptr;
  if (TheOnly() != nullptr) return is_watched_thread ? TheOnly().get() : nullptr;
  std::unique_ptr<ProbeRecorder> recorder =
      ProbeRecorder::Create(*RequestOfProcess(), WithCapabilities());
  if (recorder == nullptr) {
    RequestOfProcess().reset();
    return nullptr;
  }
  recorder->clock().writer().Attribute(0, "preloaded", "1");
  is_watched_thread = true;
  owner_process = getpid();
  std::atexit([] { ProcessEnds(); });
  TheOnly() = std::make_unique<Watcher>(*RequestOfProcess(), std::move(recorder));
  end_of_thread.emplace();
  TheOnly()->TakeEarlyReads();
  return TheOnly().get();
} catch (...) {
  EndAll();
  return nullptr;
}

Watcher* Watcher::BeginWithModel() noexcept try {
  if (is_watched_thread) return Here();
  {
    const std::lock_guard<std::mutex> lock(Lock());
    if (is_inside || TheOnly() != nullptr || Pending().empty()) return nullptr;
  }
  Watcher* watcher = Begin();
  if (watcher != nullptr) watcher->WatchModels();
  return watcher;
} catch (...) {
  EndAll();
  return nullptr;
}

void Watcher::EndAll() {
  const std::lock_guard<std::mutex> lock(Lock());
  RequestOfProcess().reset();
  is_watched_thread = false;
}

void Watcher::EndOfThread() {
  std::unique_ptr<Watcher> ended;
  {
    const std::lock_guard<std::mutex> lock(Lock());
    ended = std::move(TheOnly());
  }
}

void Watcher::ProcessEnds() noexcept try {
  if (owner_process != getpid() || is_inside || MayBeInHandler()) return;
  if (is_watched_thread) return EndOfThread();
  const std::lock_guard<std::mutex> lock(Lock());
  if (TheOnly() != nullptr) TheOnly()->recorder_->clock().FinishElsewhere();
} catch (...) {
}

Watcher::Watcher(const Request& request, std::unique_ptr<ProbeRecorder> recorder)
    : recorder_(std::move(recorder)),
      parts_(request),
      captured_(request),
      operations_(*recorder_, forgotten_, parts_, captured_) {
  experiment_ = MakeProgramExperiment(request, *recorder_);
  operations_.Update();
}

void Watcher::Reads(const std::function<void(Watcher*)>& use) noexcept try {
  if (is_inside) return;
  const Inside inside;
  if (is_watched_thread) {
    if (TheOnly() != nullptr) use(TheOnly().get());
    return;
  }
  const std::lock_guard<std::mutex> lock(Lock());
  if (RequestOfProcess().has_value() && TheOnly() == nullptr) use(nullptr);
} catch (...) {
  EndAll();  // the lock is free again by now
}

void Watcher::SawModel(const torch::nn::Module& model) noexcept try {
  if (is_inside) return;
  const Inside inside;
  const std::lock_guard<std::mutex> lock(Lock());
  if (RequestOfProcess().has_value()) Pending().Saw(model);
} catch (...) {
  EndAll();
}

int Watcher::WatchModels() {
  const Inside inside;
  int watched = 0;
  std::vector<ModelTree> trees;
  {
    const std::lock_guard<std::mutex> lock(Lock());
    trees = Pending().Take();
  }
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    for (const ModelTree& tree : trees) {
      if (!HasRoomFor(tree.Contents())) continue;
      recorder.Watch(tree);
      ++watched;
      for (const ModelTree::Module& module : tree.modules) {
        recorder.models().TellMode(module.address, module.is_training);
      }
    }
  });
  return watched;
}

void Watcher::OptimizerBuilt(const torch::optim::Optimizer& optimizer) {
  const auto known = optimizers_.find(&optimizer);
  if (known != optimizers_.end()) {
    *known->second.alive = nullptr;
    optimizers_.erase(known);
  }
  WatchModels();
  const Inside inside;
  operations_.OptimizerBuilt();
  forgotten_.OptimizerBuilt();
  last_built_ = built_[&optimizer] = CallSite();
}

int Watcher::BeginStep(torch::optim::Optimizer& optimizer) {
  const Inside inside;
  operations_.TrainingGoesOn();
  const int number = NumberOf(optimizer);
  operations_.SetStepping(true);
  in_step_ = true;
  unseen_.StepSeen();
  if (number == kUnwatched) return number;
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    settings_.Look(optimizer, number, recorder);
    captured_.StepBegins(optimizer);
    equal_rows_.BeginStep(recorder);
    replaced_.BeginStep(optimizer, number, recorder);
    restored_.TrainingBegins(recorder);
    parts_.BeginStep(optimizer, number, recorder);
    recorder.BeginStep(number);
  });
  return number;
}

void Watcher::Consume(int number) {
  if (number == kUnwatched) return;
  const Inside inside;
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    operations_.Consumed(number);
    recorder.Consume(number);
  });
}

void Watcher::AfterStep(const torch::optim::Optimizer& optimizer, int number) {
  if (number == kUnwatched) return;
  const Inside inside;
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    if (experiment_ != nullptr) experiment_->StepEnds();
    operations_.StepEnds(number, recorder);
    replaced_.AfterStep(optimizer, number);
    if (recorder.clock().sampled()) graphs_.StepEnded(recorder);
    const int64_t step = recorder.clock().step();
    const bool was_sampled = recorder.clock().sampled();
    recorder.AfterStep(number, recorder.clock().sampled() ? CallSite() : Probe::Site{"", 0, ""},
                       /*taken=*/true);
    captured_.StepEnded(step, was_sampled || recorder.clock().sampled());
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
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    unseen_.BackwardEnds(recorder);
    operations_.BackwardEnds(recorder);
  });
}

void Watcher::Cleared(torch::optim::Optimizer& optimizer) {
  const Inside inside;
  const int number = NumberOf(optimizer);
  if (number == kUnwatched) return;
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    recorder.Cleared(number, recorder.clock().sampled() ? CallSite() : Probe::Site{"", 0, ""});
  });
}

void Watcher::BackwardBegins(const std::vector<at::Tensor>& roots) {
  // A model that took another's place after the optimizer was built. What is watched stays in
  // memory, so there are few.
  if (late_models_ < kMostLateModels) late_models_ += WatchModels();
  const Inside inside;
  operations_.TrainingGoesOn();
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    unseen_.Infer(recorder);
    restored_.TrainingBegins(recorder);
  });
  operations_.Update();
  operations_.BackwardBegins(roots.empty() ? at::Tensor() : roots.front());
  if (roots.empty() || !roots.front().defined()) return;
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    const bool sampled = recorder.clock().sampled();
    const Probe::Site site = sampled ? CallSite() : Probe::Site{"", 0, ""};
    if (sampled) {
      forgotten_.Look(roots.front(), recorder);
      graphs_.Add(roots.front(), site);
    }
    recorder.BackwardFrom(roots.front(), site);
  });
}

}  // namespace dlcheck
