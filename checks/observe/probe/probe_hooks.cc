#include "checks/observe/probe/probe_hooks.h"

#include <ATen/record_function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/variable.h>

#include <string_view>
#include <thread>

#include "checks/observe/probe/probe_calls.h"

namespace dlcheck {
namespace {

class FirstAccumulation : public torch::autograd::FunctionPreHook {
 public:
  FirstAccumulation(const std::shared_ptr<std::function<void()>>& call,
                    const std::shared_ptr<int>& last_backward)
      : call_(call), last_backward_(last_backward) {}

  torch::autograd::variable_list operator()(const torch::autograd::variable_list& grads) override {
    if (IsOfAnotherThread(grads)) return grads;
    const std::shared_ptr<std::function<void()>> call = call_.lock();
    const int backward = torch::autograd::get_current_graph_task_id();
    if (call && backward != *last_backward_) {
      *last_backward_ = backward;
      (*call)();
    }
    return grads;
  }

 private:
  // Several threads may call backward through shared parameters, and only one is watched. Gradients
  // of a device arrive in a thread of torch, for whoever waits for them.
  bool IsOfAnotherThread(const torch::autograd::variable_list& grads) const {
    const bool on_host = grads.empty() || !grads[0].defined() || grads[0].device().is_cpu();
    return on_host && std::this_thread::get_id() != watched_;
  }

  std::weak_ptr<std::function<void()>> call_;  // gone when the probe is
  std::shared_ptr<int> last_backward_;
  std::thread::id watched_ = std::this_thread::get_id();
};

// A callback is a plain function; this is who it calls.
thread_local ForwardWatch* forward_watch = nullptr;

// The operators that the others are made of, below autocast, where inputs have their final type.
bool IsProduct(const char* name) {
  static const std::set<std::string_view> names = {"aten::addmm", "aten::mm", "aten::bmm",
                                                   "aten::baddbmm", "aten::convolution"};
  return names.count(name) > 0;
}

void LookAtProduct(const at::RecordFunction& function) {
  for (const c10::IValue& input : function.inputs()) {
    if (!input.isTensor() || !input.toTensor().defined()) continue;
    const at::ScalarType type = input.toTensor().scalar_type();
    return forward_watch->SawProduct(type == at::kBFloat16 || type == at::kHalf);
  }
}

// Gradients are disabled in evaluations and in backward passes, but enabled where an activation
// checkpoint runs a block again in one.
std::unique_ptr<at::ObserverContext> SawOperation(const at::RecordFunction& function) {
  if (forward_watch == nullptr) return nullptr;
  if (IsCollective(function.name())) forward_watch->ranks().Call(function);
  if (!at::GradMode::is_enabled()) return nullptr;
  if (IsProduct(function.name())) LookAtProduct(function);
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

void ForwardWatch::SawProduct(bool in_low_precision) {
  ++products_;
  if (in_low_precision) ++low_products_;
}

void ForwardWatch::WriteProducts(uint32_t owner) {
  if (products_ == 0 || !clock_->sampled()) return;
  clock_->Put(Quantity::kLowPrecisionShare, {models_->model_thing(), owner},
              static_cast<double>(low_products_) / static_cast<double>(products_),
              static_cast<double>(products_));
}

void ForwardWatch::BeginStep() {
  products_ = low_products_ = 0;
  seen_.clear();
  if (!clock_->sampled()) {
    Stop();
    ranks_->SkipCalls();
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
  const uint32_t model = models_->model_thing(parameter->model);
  clock_->Put(Event::kForward, {parameter->module_thing, model},
              models_->IsTraining(parameter->owner) ? 1 : 0);
  for (const auto& [module, thing] : models_->unseen_modules(parameter->model)) {
    if (!seen_.insert(thing).second) continue;
    clock_->Put(Event::kForward, {thing, model}, models_->IsTraining(module) ? 1 : 0);
  }
}

}  // namespace dlcheck
