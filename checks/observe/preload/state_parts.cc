#include "checks/observe/preload/state_parts.h"

#include <map>
#include <typeinfo>
#include <utility>

#include "checks/observe/probe/tensor_summary.h"

namespace dlcheck {
namespace {

using StateValues = std::map<std::string, std::vector<at::Tensor>>;

void AddValue(const char* key, const at::Tensor& tensor, StateValues& values) {
  if (tensor.defined()) values[key].push_back(tensor);
}
void AddValue(const char* key, int64_t number, StateValues& values) {
  values[key].push_back(at::scalar_tensor(number, at::kLong));
}

// The state that LibTorch's own optimizers keep for a parameter; of another one nothing is known.
void AddState(const torch::optim::OptimizerParamState& state, StateValues& values) {
  if (const auto* adam = dynamic_cast<const torch::optim::AdamParamState*>(&state)) {
    AddValue("step", adam->step(), values);
    AddValue("exp_avg", adam->exp_avg(), values);
    AddValue("exp_avg_sq", adam->exp_avg_sq(), values);
    AddValue("max_exp_avg_sq", adam->max_exp_avg_sq(), values);
  } else if (const auto* adam_w = dynamic_cast<const torch::optim::AdamWParamState*>(&state)) {
    AddValue("step", adam_w->step(), values);
    AddValue("exp_avg", adam_w->exp_avg(), values);
    AddValue("exp_avg_sq", adam_w->exp_avg_sq(), values);
    AddValue("max_exp_avg_sq", adam_w->max_exp_avg_sq(), values);
  } else if (const auto* sgd = dynamic_cast<const torch::optim::SGDParamState*>(&state)) {
    AddValue("momentum_buffer", sgd->momentum_buffer(), values);
  } else if (const auto* rms = dynamic_cast<const torch::optim::RMSpropParamState*>(&state)) {
    AddValue("step", rms->step(), values);
    AddValue("square_avg", rms->square_avg(), values);
    AddValue("momentum_buffer", rms->momentum_buffer(), values);
    AddValue("grad_avg", rms->grad_avg(), values);
  } else if (const auto* adagrad = dynamic_cast<const torch::optim::AdagradParamState*>(&state)) {
    AddValue("step", adagrad->step(), values);
    AddValue("sum", adagrad->sum(), values);
  }
}

void WritePart(const std::string& part, const std::vector<at::Tensor>& tensors,
               ProbeRecorder& recorder) {
  std::vector<at::Tensor> dense;
  for (const at::Tensor& tensor : tensors) {
    if (tensor.layout() == at::kStrided) dense.push_back(tensor.detach());
  }
  recorder.clock().PutDigest(Quantity::kStateDigest,
                             {recorder.clock().writer().Thing("state", 0, part)},
                             DigestTensors(dense));
}

}  // namespace

StateParts::StateParts(const Request& request)
    : is_active_(request.experiment == "interrupted" || request.experiment == "resumed"),
      from_step_(request.saved_step.value_or(0)) {}

bool StateParts::IsFirst(const std::string& part, ProbeRecorder& recorder) {
  if (!is_active_ || recorder.clock().step() < from_step_) return false;
  return done_.insert(part).second;
}

void StateParts::BeginStep(torch::optim::Optimizer& optimizer, int number,
                           ProbeRecorder& recorder) {
  std::string name = c10::demangle(typeid(optimizer).name());
  if (number > 0) name += " " + std::to_string(number + 1);
  if (!IsFirst("weights of " + name, recorder)) return;
  if (IsFirst("random/torch", recorder)) {
    WritePart("random/torch", {at::detail::getDefaultCPUGenerator().get_state()}, recorder);
  }
  std::vector<at::Tensor> weights;
  std::vector<double> rates;
  StateValues values;
  for (const auto& group : optimizer.param_groups()) {
    rates.push_back(group.options().get_lr());
    for (const at::Tensor& parameter : group.params()) {
      weights.push_back(parameter);
      const auto found = optimizer.state().find(parameter.unsafeGetTensorImpl());
      if (found != optimizer.state().end() && found->second) AddState(*found->second, values);
    }
  }
  WritePart("weights of " + name, weights, recorder);
  WritePart("rates of " + name, {torch::tensor(rates, at::kDouble)}, recorder);
  for (const auto& [key, tensors] : values) WritePart(key + " of " + name, tensors, recorder);
}

void StateParts::ForwardBegins(const at::Tensor& input, ProbeRecorder& recorder) {
  const std::string name = recorder.models().running_type();
  if (!IsFirst("model " + name, recorder)) return;
  WritePart("data/first batch of " + name, {input}, recorder);
  std::vector<at::Tensor> buffers;
  for (const auto& [thing, buffer] : recorder.models().Buffers()) buffers.push_back(buffer);
  if (!buffers.empty()) WritePart("buffers of " + name, buffers, recorder);
}

}  // namespace dlcheck
