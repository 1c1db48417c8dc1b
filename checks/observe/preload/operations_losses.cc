// The part of what the preloaded probe sees that is about loss functions.
#include <algorithm>
#include <utility>

#include "checks/observe/preload/given_tensors.h"
#include "checks/observe/preload/loss_functions.h"
#include "checks/observe/preload/operation_context.h"
#include "checks/observe/preload/operations.h"
#include "checks/observe/preload/watcher.h"
#include "checks/observe/probe/guarded.h"
#include "checks/observe/probe/probe_loss.h"

namespace dlcheck {
namespace {

std::string ReductionOf(const at::RecordFunction& function, size_t place) {
  static const char* const names[] = {"none", "mean", "sum"};  // as at::Reduction counts them
  const auto inputs = function.inputs();
  if (place >= inputs.size() || !inputs[place].isInt()) return "";
  const int64_t number = inputs[place].toInt();
  return number >= 0 && number <= 2 ? names[number] : "";
}

// The class number that a loss function is told to ignore.
int64_t IgnoredBy(const at::RecordFunction& function) {
  constexpr size_t kPlace = 4;
  const auto inputs = function.inputs();
  return inputs.size() > kPlace && inputs[kPlace].isInt() ? inputs[kPlace].toInt() : -100;
}

// What the result is to be divided by to be the mean of the losses.
double PartsOf(const LossContext& loss) {
  if (loss.reduction != "sum") return 1;
  const at::Tensor& targets = loss.targets;
  const int64_t parts =
      targets.is_floating_point() ? targets.numel() : targets.ge(0).sum().item<int64_t>();
  return static_cast<double>(std::max<int64_t>(parts, 1));
}

}  // namespace

std::unique_ptr<at::ObserverContext> Operations::LossBegins(const at::RecordFunction& function,
                                                            const LossFunction& loss) {
  auto context = std::make_unique<LossContext>();
  context->function = losses_open_++ == 0 ? &loss : nullptr;
  context->outputs = TensorGiven(function, 0);
  context->targets = TensorGiven(function, 1);
  if (loss.IsDistance() && context->targets.defined() && context->outputs.defined() &&
      context->targets.requires_grad() && !context->outputs.requires_grad()) {
    std::swap(context->outputs, context->targets);  // given the other way round
  }
  const bool are_classes = context->targets.defined() && !context->targets.is_floating_point();
  if (are_classes) context->ignored = IgnoredBy(function);
  if (context->ignored >= 0) {
    Guarded(recorder_, [&](ProbeRecorder&) {
      context->targets = context->targets.masked_fill(context->targets.eq(context->ignored), -100);
    });
  }
  context->reduction = ReductionOf(function, loss.reduction);
  if (are_classes) context->weights = TensorGiven(function, 2);
  if (depth_ == 1) {
    Guarded(recorder_, [&](ProbeRecorder& recorder) { facts_.LookAtTargets(function, recorder); });
  }
  return context;
}

void Operations::LossEnds(const at::RecordFunction& function, at::ObserverContext* context) {
  auto* loss = static_cast<LossContext*>(context);
  --losses_open_;
  if (loss->function == nullptr || function.outputs().empty()) return;
  const c10::IValue& first = function.outputs()[0];
  const at::Tensor result = first.isTensor() ? first.toTensor() : at::Tensor();
  if (!result.defined() || !loss->outputs.defined() || !loss->targets.defined()) return;
  const Watcher::Inside inside;
  Guarded(recorder_, [&](ProbeRecorder& recorder) {
    if (result.requires_grad()) return LossGiven(result, context, recorder);
    if (result.numel() != 1 || loss->outputs.dim() == 0) return;
    const LossFunction& known = *loss->function;
    const uint32_t thing = ThingOfLoss(recorder.clock(), known.kind, known.name, loss->outputs);
    facts_.Evaluated({known.name, thing, result, loss->outputs, loss->targets}, recorder);
    passes_.LossWithoutGradients(result.item<double>() / PartsOf(*loss), loss->outputs.size(0));
  });
}

void Operations::LossGiven(const at::Tensor& result, at::ObserverContext* context,
                           ProbeRecorder& recorder) {
  const auto& loss = *static_cast<LossContext*>(context);
  const LossFunction& known = *loss.function;
  if (loss.outputs.dim() == 2) softmaxes_.LossGiven(loss.outputs, recorder);
  passes_.LossGiven(known.name, loss.outputs, loss.targets);
  recurrent_.LossGiven(loss.outputs, loss.targets, recorder);
  targets_.LossGiven(known.name, loss.targets, recorder);
  captured_->LossGiven({known.name, result, loss.outputs, loss.targets,
                        loss.ignored >= 0 ? -100 : loss.ignored, loss.weights.defined()});
  const uint32_t thing = recorder.LossReturned(
      {known.name, known.kind, loss.reduction, broadcasts_.LossGiven(loss.outputs, loss.targets),
       result, loss.outputs, loss.targets, loss.ignored, loss.weights});
  facts_.Given({known.name, thing, result, loss.outputs, loss.targets, loss.ignored}, recorder);
}

}  // namespace dlcheck
