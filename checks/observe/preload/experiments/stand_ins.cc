#include "checks/observe/preload/experiments/stand_ins.h"

#include "checks/observe/preload/loss_functions.h"

namespace dlcheck {
namespace {

constexpr size_t kTargetOfLoss = 1;  // the argument

// What an operation writes into, as a sum or the statistics of a norm, is no data.
bool IsWritten(const c10::Argument& argument) {
  const c10::AliasInfo* alias = argument.alias_info();
  return (alias != nullptr && alias->isWrite()) || argument.name().rfind("running_", 0) == 0;
}

// A number is mostly a constant of the program, and may give way to other types.
bool MayBeReplaced(const at::Tensor& tensor) {
  return tensor.dim() > 0 && tensor.layout() == at::kStrided;
}

// A layer whose weight is not trained, as those of a network that only makes features.
bool IsFrozenLayer(const c10::FunctionSchema& schema, const OperationValues& arguments) {
  const std::string& name = schema.name();
  const bool is_layer =
      name.rfind("aten::conv", 0) == 0 || name == "aten::linear" || name == "aten::embedding";
  if (!is_layer) return false;
  const std::optional<int> weight = schema.argumentIndexWithName("weight");
  if (!weight || !arguments[static_cast<size_t>(*weight)].isTensor()) return false;
  return !arguments[static_cast<size_t>(*weight)].toTensor().requires_grad();
}

// The value, or the list that it is, with another tensor at this number.
c10::IValue WithTensor(const c10::IValue& value, size_t number, const at::Tensor& tensor) {
  if (value.isTensor()) return tensor;
  c10::List<c10::IValue> list = value.toList().copy();
  list.set(number, tensor);
  return list;
}

}  // namespace

StandIns::StandIns(ProbeRecorder& recorder, double rate)
    : ReferenceSteps(recorder, rate), flow_(recorder.models()) {
  BeginTap(*this);
}

bool StandIns::MeetsModel(const OperationValues& arguments) const {
  bool meets = false;
  for (const c10::IValue& argument : arguments) {
    EachTensor(argument,
               [&](const at::Tensor& tensor, size_t) { meets = meets || !flow_.IsData(tensor); });
  }
  return meets;
}

DataUse StandIns::UseOf(const c10::FunctionSchema& schema, size_t argument,
                        const OperationValues& arguments) const {
  if (FindLossFunction(schema.name()) != nullptr) {
    return argument == kTargetOfLoss ? DataUse::kTarget : DataUse::kOther;
  }
  bool takes_weight = false;
  for (const c10::IValue& other : arguments) {
    EachTensor(other, [&](const at::Tensor& tensor, size_t) {
      takes_weight =
          takes_weight || flow_.IsOfModel(tensor) || (tensor.requires_grad() && tensor.is_leaf());
    });
  }
  return takes_weight ? DataUse::kInput : DataUse::kOther;
}

DataPlace StandIns::NextPlace(const c10::FunctionSchema& schema, size_t argument, size_t number) {
  const std::string name = schema.name() + "." + schema.overload_name();
  return {name, argument, number, counts_[{name, argument, number}]++};
}

c10::IValue StandIns::StandInFor(const c10::FunctionSchema& schema, size_t argument,
                                 const OperationValues& arguments) {
  const DataUse use = UseOf(schema, argument, arguments);
  c10::IValue made = arguments[argument];
  EachTensor(arguments[argument], [&](const at::Tensor& tensor, size_t number) {
    // Targets that a teacher worked out belong to the data of their batch.
    const bool is_target = use == DataUse::kTarget && !tensor.requires_grad();
    const bool is_frozen = use == DataUse::kInput && !tensor.requires_grad() &&
                           tensor.is_floating_point() && !flow_.IsOfModel(tensor);
    met_frozen_part_ = met_frozen_part_ || (is_frozen && !flow_.IsData(tensor));
    if (!MayBeReplaced(tensor) || !(is_target || flow_.IsData(tensor))) return;
    inputs_ += use == DataUse::kInput;
    const at::Tensor other = StandIn(NextPlace(schema, argument, number), tensor, use);
    if (!other.is_same(tensor)) made = WithTensor(made, number, other);
  });
  return made;
}

void StandIns::Before(const c10::FunctionSchema& schema, bool has_gradients,
                      OperationValues& arguments) {
  flow_.MeetModels();
  if (has_gradients && IsFrozenLayer(schema, arguments)) met_frozen_part_ = true;
  if (!has_gradients || !recorder().models().IsTraining() || !MeetsModel(arguments)) return;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (IsWritten(schema.arguments()[i])) continue;
    arguments[i] = StandInFor(schema, i, arguments);
  }
}

void StandIns::After(const c10::FunctionSchema& schema, const OperationValues& arguments,
                     OperationValues& results) {
  flow_.Called(schema, arguments, results);
}

void StandIns::StepEnds() {
  TrainingStepEnds();
  counts_.clear();
  inputs_ = 0;
  flow_.StepEnds();
}

}  // namespace dlcheck
