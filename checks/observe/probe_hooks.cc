#include "checks/observe/probe_hooks.h"

#include <ATen/record_function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/variable.h>

namespace dlcheck {
namespace {

class FirstAccumulation : public torch::autograd::FunctionPreHook {
 public:
  FirstAccumulation(const std::shared_ptr<std::function<void()>>& call,
                    const std::shared_ptr<int>& last_backward)
      : call_(call), last_backward_(last_backward) {}

  torch::autograd::variable_list operator()(const torch::autograd::variable_list& grads) override {
    const std::shared_ptr<std::function<void()>> call = call_.lock();
    const int backward = torch::autograd::get_current_graph_task_id();
    if (call && backward != *last_backward_) {
      *last_backward_ = backward;
      (*call)();
    }
    return grads;
  }

 private:
  std::weak_ptr<std::function<void()>> call_;  // gone when the probe is
  std::shared_ptr<int> last_backward_;
};

// A callback is a plain function; this is who it calls.
thread_local ForwardWatch* forward_watch = nullptr;

std::unique_ptr<at::ObserverContext> SawOperation(const at::RecordFunction& function) {
  if (forward_watch == nullptr || !at::GradMode::is_enabled() ||
      torch::autograd::get_current_graph_task_id() != -1) {
    return nullptr;
  }
  for (const c10::IValue& input : function.inputs()) {
    if (input.isTensor()) {
      forward_watch->Saw(input.toTensor());
    } else if (input.isTensorList()) {
      for (const at::Tensor& tensor : input.toTensorVector()) forward_watch->Saw(tensor);
    }
  }
  return nullptr;
}

}  // namespace

void BackwardWatch::Add(const std::vector<at::Tensor>& leaves) {
  for (const at::Tensor& leaf : leaves) {
    if (!hooked_.insert(leaf.unsafeGetTensorImpl()).second) continue;
    accumulators_.push_back(torch::autograd::impl::grad_accumulator(leaf));
    accumulators_.back()->add_pre_hook(
        std::make_unique<FirstAccumulation>(first_accumulation_, last_backward_));
  }
}

void ForwardWatch::BeginStep() {
  seen_.clear();
  if (!clock_->sampled()) {
    Stop();
  } else if (callback_ == 0) {
    forward_watch = this;
    callback_ = at::addThreadLocalCallback(at::RecordFunctionCallback(&SawOperation)
                                               .needsInputs(true)
                                               .scopes({at::RecordScope::FUNCTION}));
  }
}

void ForwardWatch::Stop() {
  if (callback_ == 0) return;
  at::removeCallback(callback_);
  callback_ = 0;
  forward_watch = nullptr;
}

void ForwardWatch::Saw(const at::Tensor& input) {
  if (!input.defined()) return;
  const ProbeModels::Parameter* parameter = models_->Find(input);
  if (parameter == nullptr || parameter->owner == nullptr ||
      !seen_.insert(parameter->module_thing).second) {
    return;
  }
  clock_->Put(Event::kForward, {parameter->module_thing, models_->model_thing()},
              parameter->owner->is_training() ? 1 : 0);
}

}  // namespace dlcheck
