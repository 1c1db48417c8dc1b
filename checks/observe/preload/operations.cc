#include "checks/observe/preload/operations.h"

#include <torch/csrc/autograd/graph_task.h>

#include <cmath>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/watcher.h"
#include "checks/observe/probe/guarded.h"

namespace dlcheck {
namespace {

// Loss functions by operator: kind, and name in torch::nn::functional.
struct LossFunction {
  const char* kind;
  const char* name;
};
const LossFunction* FindLossFunction(std::string_view operation) {
  static const std::unordered_map<std::string_view, LossFunction> functions = {
      {"aten::cross_entropy_loss", {"cross_entropy", "cross_entropy"}},
      {"aten::nll_loss_nd", {"nll", "nll_loss"}},
      {"aten::nll_loss", {"nll", "nll_loss"}},
      {"aten::mse_loss", {"mse", "mse_loss"}},
      {"aten::binary_cross_entropy", {"bce", "binary_cross_entropy"}},
      {"aten::binary_cross_entropy_with_logits", {"bce", "binary_cross_entropy_with_logits"}},
      {"aten::l1_loss", {"l1", "l1_loss"}},
      {"aten::smooth_l1_loss", {"smooth_l1", "smooth_l1_loss"}},
      {"aten::huber_loss", {"huber", "huber_loss"}},
      {"aten::kl_div", {"kl", "kl_div"}},
  };
  const auto found = functions.find(operation);
  return found == functions.end() ? nullptr : &found->second;
}

struct LossContext : at::ObserverContext {
  const LossFunction* function;
  at::Tensor outputs, targets;
};

// A callback is a plain function; this is who it calls.
thread_local Operations* operations = nullptr;

std::unique_ptr<at::ObserverContext> OperationBegins(const at::RecordFunction& function) {
  if (operations == nullptr || Watcher::Here() == nullptr) return nullptr;
  return operations->Begins(function);
}

void OperationEnds(const at::RecordFunction& function, at::ObserverContext* context) {
  if (context != nullptr && operations != nullptr) operations->Ends(function, context);
}

template <typename Values>
at::Tensor TensorAt(const Values& values, size_t place) {
  return place < values.size() && values[place].isTensor() ? values[place].toTensor()
                                                           : at::Tensor();
}

}  // namespace

void Operations::Update() {
  const bool watches = recorder_->clock().sampled() || !at::GradMode::is_enabled();
  if (!watches) return Stop();
  if (callback_ != 0) return;
  operations = this;
  callback_ =
      at::addThreadLocalCallback(at::RecordFunctionCallback(&OperationBegins, &OperationEnds)
                                     .needsInputs(true)
                                     .needsOutputs(true)
                                     .scopes({at::RecordScope::FUNCTION}));
}

void Operations::Stop() {
  if (callback_ == 0) return;
  at::removeCallback(callback_);
  callback_ = 0;
  operations = nullptr;
}

std::unique_ptr<at::ObserverContext> Operations::Begins(const at::RecordFunction& function) {
  if (is_stepping_ || torch::autograd::get_current_graph_task_id() != -1) return nullptr;
  const Watcher::Inside inside;
  const LossFunction* loss = FindLossFunction(function.name());
  if (loss == nullptr) {
    SawParameters(function);
    return nullptr;
  }
  auto context = std::make_unique<LossContext>();
  context->function = losses_open_++ == 0 ? loss : nullptr;
  context->outputs = TensorAt(function.inputs(), 0);
  context->targets = TensorAt(function.inputs(), 1);
  return context;
}

void Operations::Ends(const at::RecordFunction& function, at::ObserverContext* context) {
  auto* loss = static_cast<LossContext*>(context);
  --losses_open_;
  if (loss->function == nullptr || function.outputs().empty()) return;
  const at::Tensor result = TensorAt(function.outputs(), 0);
  if (!result.defined() || !loss->outputs.defined() || !loss->targets.defined()) return;
  const Watcher::Inside inside;
  Guarded(recorder_, [&](ProbeRecorder& recorder) {
    if (result.requires_grad()) {
      recorder.LossReturned(
          {loss->function->name, loss->function->kind, result, loss->outputs, loss->targets});
    } else if (evaluates_ && result.numel() == 1 && loss->outputs.dim() > 0) {
      const int64_t samples = loss->outputs.size(0);
      evaluation_sum_ += result.item<double>() * static_cast<double>(samples);
      evaluation_samples_ += samples;
    }
  });
}

// Looks for the first operation of a forward pass.
void Operations::SawParameters(const at::RecordFunction& function) {
  for (const c10::IValue& input : function.inputs()) {
    if (!input.isTensor() || !input.toTensor().defined()) continue;
    const at::Tensor& tensor = input.toTensor();
    if (has_entry_) {
      if (tensor.unsafeGetTensorImpl() == entry_._unsafe_get_target()) ForwardBegins(function);
      continue;
    }
    const ProbeModels::Parameter* parameter = recorder_->models().Find(tensor);
    if (parameter == nullptr || parameter->owner == nullptr || !at::GradMode::is_enabled())
      continue;
    entry_ = c10::weak_intrusive_ptr<at::TensorImpl>(tensor.getIntrusivePtr());
    has_entry_ = true;
    ForwardBegins(function);
  }
}

void Operations::ForwardBegins(const at::RecordFunction& function) {
  const bool has_gradients = at::GradMode::is_enabled();  // not in what is guarded
  Guarded(recorder_, [&](ProbeRecorder& recorder) {
    if (!has_gradients) {
      if (!evaluates_) recorder.EvaluationBegins();
      evaluates_ = true;
      recorder.EvaluationForward(has_gradients);
      return;
    }
    if (!expects_batch_) return;
    for (const c10::IValue& input : function.inputs()) {
      if (!input.isTensor() || !input.toTensor().defined()) continue;
      const at::Tensor& tensor = input.toTensor();
      if (tensor.requires_grad() || tensor.dim() == 0) continue;
      expects_batch_ = false;
      recorder.Batch(tensor, CallSite());
      return;
    }
  });
}

void Operations::TrainingGoesOn() {
  if (!evaluates_) return;
  evaluates_ = false;
  const int64_t samples = std::exchange(evaluation_samples_, 0);
  const double sum = std::exchange(evaluation_sum_, 0);
  Guarded(recorder_, [&](ProbeRecorder& recorder) {
    if (samples > 0) {
      recorder.Evaluated(sum / static_cast<double>(samples), samples);
    } else {
      recorder.EvaluationEnded();
    }
  });
}

}  // namespace dlcheck
