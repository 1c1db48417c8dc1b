#include "checks/observe/preload/operations.h"

#include <torch/csrc/autograd/graph_task.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/experiments/dispatch_tap.h"
#include "checks/observe/preload/loss_functions.h"
#include "checks/observe/preload/watcher.h"
#include "checks/observe/probe/guarded.h"
#include "checks/observe/probe/probe_loss.h"

namespace dlcheck {
namespace {

// Of an operation whose result is looked at.
enum class Looked {
  kNorm,
  kLoss,
  kDifference,
  kToBeTaken,
  kReshaped,
  kProduct,
  kActivation,
  kFact
};
struct Context : at::ObserverContext {
  explicit Context(Looked at) : looked(at) {}
  Looked looked;
};

struct LossContext : Context {
  LossContext() : Context(Looked::kLoss) {}
  const LossFunction* function;
  at::Tensor outputs, targets;  // class numbers that are ignored are -100
  std::string reduction;
  int64_t ignored = -100;
  at::Tensor weights;  // of classes; undefined if there are none
};

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

// A callback is a plain function; this is who it calls.
thread_local Operations* operations = nullptr;

std::unique_ptr<at::ObserverContext> OperationBegins(const at::RecordFunction& function) {
  if (operations == nullptr || Watcher::Here() == nullptr || !MayLookAtOperation()) return nullptr;
  operations->Enters();
  return operations->Begins(function);
}

void OperationEnds(const at::RecordFunction& function, at::ObserverContext* context) {
  if (operations == nullptr || Watcher::Here() == nullptr || !MayLookAtOperation()) return;
  operations->Leaves();
  if (context != nullptr) operations->Ends(function, context);
}

template <typename Values>
at::Tensor TensorAt(const Values& values, size_t place) {
  return place < values.size() && values[place].isTensor() ? values[place].toTensor()
                                                           : at::Tensor();
}

}  // namespace

void Operations::Update() {
  const bool watches =
      recorder_->clock().sampled() || !at::GradMode::is_enabled() || passes_.MayEvaluate();
  if (!watches) return Stop();
  if (callback_ != 0) return;
  operations = this;
  depth_ = 0;
  callback_ =
      at::addThreadLocalCallback(at::RecordFunctionCallback(&OperationBegins, &OperationEnds)
                                     .needsInputs(true)
                                     .needsOutputs(true)
                                     .scopes({at::RecordScope::FUNCTION}));
}

Operations::~Operations() {
  Guarded(recorder_, [this](ProbeRecorder& recorder) {
    passes_.RunEnds(recorder);
    options_.RunEnds(recorder);
  });
  Stop();
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
  if (loss == nullptr) return OtherBegins(function);
  auto context = std::make_unique<LossContext>();
  context->function = losses_open_++ == 0 ? loss : nullptr;
  context->outputs = TensorAt(function.inputs(), 0);
  context->targets = TensorAt(function.inputs(), 1);
  if (loss->IsDistance() && context->targets.defined() && context->outputs.defined() &&
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
  context->reduction = ReductionOf(function, loss->reduction);
  if (are_classes) context->weights = TensorAt(function.inputs(), 2);
  if (depth_ == 1) {
    Guarded(recorder_, [&](ProbeRecorder& recorder) { facts_.LookAtTargets(function, recorder); });
  }
  return context;
}

void Operations::Enters() {
  if (depth_++ > 0 || !unused_.Waits()) return;
  const Watcher::Inside inside;
  Guarded(recorder_, [this](ProbeRecorder& recorder) { unused_.NextBegins(recorder); });
}

void Operations::SawEmbedding(const at::RecordFunction& function) {
  const at::Tensor rows = TensorAt(function.inputs(), 1);
  recorder_->SawTokens(rows);
  if (!at::GradMode::is_enabled() || depth_ != 1) return;
  Guarded(recorder_, [&](ProbeRecorder& recorder) {
    embedded_.Saw(TensorAt(function.inputs(), 0), rows, recorder);
    facts_.Tokens(rows, recorder);
    if (recorder.models().IsTraining()) captured_->GivenLater(recorder.models().running(), rows);
  });
}

std::unique_ptr<at::ObserverContext> Operations::OtherBegins(const at::RecordFunction& function) {
  if (std::string_view(function.name()) == "aten::embedding") SawEmbedding(function);
  if (depth_ == 1) passes_.Saw(function);
  if (depth_ == 1) forgotten_->SawDrawn(function, recorder_->clock());
  if (depth_ == 1 && forgotten_->follows()) forgotten_->SawUse(function, passes_.in_forward());
  softmaxes_.Saw(function);
  if (depth_ == 1) factor_.Saw(function, *recorder_);
  clipping_.Saw(function, *recorder_);
  if (depth_ == 1 && passes_.in_forward() && DropoutCalls::Is(function)) {
    Guarded(recorder_, [&](ProbeRecorder& recorder) {
      dropouts_.Saw(function, recorder);
      captured_->Dropped(DropoutCalls::ProbabilityOf(function));
    });
  }
  if (Clipping::IsNorm(function)) return std::make_unique<Context>(Looked::kNorm);
  if (!at::GradMode::is_enabled()) return nullptr;
  const bool is_norm = depth_ == 1 && NormLayers::Is(function);
  if (is_norm || RecurrentAxes::IsRecurrent(function)) {
    Guarded(recorder_, [&](ProbeRecorder& recorder) {
      is_norm ? norms_.Saw(function, recorder) : recurrent_.Saw(function, recorder);
    });
  }
  bool subtracts = false;
  if (BroadcastLosses::MayBroadcast(function)) {
    Guarded(recorder_, [&](ProbeRecorder&) { subtracts = broadcasts_.Broadcasts(function); });
  }
  if (subtracts) return std::make_unique<Context>(Looked::kDifference);
  const bool reshapes = depth_ == 1 && ReshapedAxes::IsReshape(function);
  if (reshapes) return std::make_unique<Context>(Looked::kReshaped);
  return depth_ == 1 ? OutermostBegins(function) : nullptr;
}

std::unique_ptr<at::ObserverContext> Operations::OutermostBegins(
    const at::RecordFunction& function) {
  bool is_attention = false;
  const bool is_fact = LossFacts::Is(function, recorder_->clock());
  Guarded(recorder_, [&](ProbeRecorder& recorder) {
    is_attention = attention_.Begins(function, recorder);
    facts_.LookAtTargets(function, recorder);
    if (is_fact) facts_.Begins(function, recorder);
  });
  if (UnusedResults::IsToBeTaken(function)) return std::make_unique<Context>(Looked::kToBeTaken);
  if (is_attention) return std::make_unique<Context>(Looked::kFact);
  if (IdleUnits::IsActivation(function)) return std::make_unique<Context>(Looked::kActivation);
  if (is_fact) return std::make_unique<Context>(Looked::kFact);
  return LinearPairs::IsOfLayer(function) ? std::make_unique<Context>(Looked::kProduct) : nullptr;
}

void Operations::TrainingGoesOn() {
  if (passes_.evaluates()) draws_.EvaluationEnds();
  passes_.TrainingGoesOn();
}

void Operations::StepEnds(int optimizer, ProbeRecorder& recorder) {
  passes_.StepEnds();
  options_.StepEnded();
  arithmetic_.AfterStep(optimizer, recorder.clock().step(), recorder);
}

void Operations::Consumed(int optimizer) {
  arithmetic_.BeginStep(optimizer, *recorder_);
  factor_.Consumed(optimizer, *recorder_);
  clipping_.Consumed(optimizer, *recorder_);
  draws_.Consumed(optimizer, *recorder_);
}

void Operations::BackwardBegins(const at::Tensor& root) {
  passes_.BackwardBegins();
  clipping_.BackwardBegins();
  Guarded(recorder_, [&](ProbeRecorder& recorder) {
    unused_.NextBegins(recorder);
    captured_->BackwardBegins(root);
    if (!root.defined() || !recorder.clock().sampled()) return;
    broadcasts_.Look(root, recorder);
    constants_.Look(root, recorder);
    reshaped_.Look(root, recorder);
    pairs_.Look(root, recorder);
    facts_.BackwardBegins(root, recorder);
  });
}

void Operations::Ends(const at::RecordFunction& function, at::ObserverContext* context) {
  const Looked looked = static_cast<Context*>(context)->looked;
  if (looked == Looked::kLoss) return LossEnds(function, context);
  const Watcher::Inside inside;
  Guarded(recorder_, [&](ProbeRecorder& recorder) {
    if (looked == Looked::kReshaped) reshaped_.Returned(function, recorder);
    if (looked == Looked::kNorm) clipping_.Returned(function);
    if (looked == Looked::kDifference) broadcasts_.Returned(function);
    if (looked == Looked::kToBeTaken) unused_.Returned(function);
    if (looked == Looked::kActivation) idle_units_.Returned(function, recorder);
    if (looked == Looked::kActivation) activations_.Returned(function, recorder);
    if (looked == Looked::kProduct) pairs_.Returned(function, recorder);
    if (looked == Looked::kToBeTaken || looked == Looked::kFact) {
      attention_.Returned(function, recorder);
    }
    if (LossFacts::Is(function, recorder.clock())) facts_.Returned(function, recorder);
  });
}

void Operations::LossEnds(const at::RecordFunction& function, at::ObserverContext* context) {
  auto* loss = static_cast<LossContext*>(context);
  --losses_open_;
  if (loss->function == nullptr || function.outputs().empty()) return;
  const at::Tensor result = TensorAt(function.outputs(), 0);
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
  facts_.Given({known.name, thing, result, loss.outputs, loss.targets}, recorder);
}

}  // namespace dlcheck
