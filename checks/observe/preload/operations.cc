#include "checks/observe/preload/operations.h"

#include <torch/csrc/autograd/graph_task.h>

#include <string_view>
#include <utility>
#include <vector>

#include "checks/observe/preload/experiments/dispatch_tap.h"
#include "checks/observe/preload/given_tensors.h"
#include "checks/observe/preload/loss_functions.h"
#include "checks/observe/preload/operation_context.h"
#include "checks/observe/preload/watcher.h"
#include "checks/observe/probe/guarded.h"

namespace dlcheck {
namespace {

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
    plateaus_.RunEnds(recorder);
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
  return LossBegins(function, *loss);
}

void Operations::Enters() {
  if (depth_++ > 0 || !unused_.Waits()) return;
  const Watcher::Inside inside;
  Guarded(recorder_, [this](ProbeRecorder& recorder) { unused_.NextBegins(recorder); });
}

void Operations::SawEmbedding(const at::RecordFunction& function) {
  const at::Tensor rows = TensorGiven(function, 1);
  recorder_->SawTokens(rows);
  if (!at::GradMode::is_enabled() || depth_ != 1) return;
  Guarded(recorder_, [&](ProbeRecorder& recorder) {
    embedded_.Saw(TensorGiven(function, 0), rows, recorder);
    facts_.LookedUp(TensorGiven(function, 0), rows, recorder);
    if (recorder.models().IsTraining()) captured_->GivenLater(recorder.models().running(), rows);
  });
}

std::unique_ptr<at::ObserverContext> Operations::OtherBegins(const at::RecordFunction& function) {
  if (std::string_view(function.name()) == "aten::embedding") SawEmbedding(function);
  if (depth_ == 1) {
    const bool has_gradients = at::GradMode::is_enabled();  // not in what is guarded
    Guarded(recorder_, [&](ProbeRecorder& recorder) {
      facts_.weights().Saw(function, has_gradients, recorder);
    });
    passes_.Saw(function);
  }
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
  if (Clipping::IsNorm(function)) return std::make_unique<OperationContext>(Looked::kNorm);
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
  if (subtracts) return std::make_unique<OperationContext>(Looked::kDifference);
  const bool reshapes = depth_ == 1 && ReshapedAxes::IsReshape(function);
  if (reshapes) return std::make_unique<OperationContext>(Looked::kReshaped);
  return depth_ == 1 ? OutermostBegins(function) : nullptr;
}

std::unique_ptr<at::ObserverContext> Operations::OutermostBegins(
    const at::RecordFunction& function) {
  bool is_attention = false;
  const bool is_fact = facts_.Is(function, recorder_->clock());
  Guarded(recorder_, [&](ProbeRecorder& recorder) {
    is_attention = attention_.Begins(function, recorder);
    facts_.LookAtTargets(function, recorder);
    if (is_fact) facts_.Begins(function, recorder);
  });
  if (UnusedResults::IsToBeTaken(function))
    return std::make_unique<OperationContext>(Looked::kToBeTaken);
  if (is_attention) return std::make_unique<OperationContext>(Looked::kFact);
  if (IdleUnits::IsActivation(function))
    return std::make_unique<OperationContext>(Looked::kActivation);
  if (is_fact) return std::make_unique<OperationContext>(Looked::kFact);
  return LinearPairs::IsOfLayer(function) ? std::make_unique<OperationContext>(Looked::kProduct)
                                          : nullptr;
}

void Operations::TrainingGoesOn() {
  if (passes_.evaluates()) draws_.EvaluationEnds();
  passes_.TrainingGoesOn();
}

void Operations::GradientsGiven(const std::vector<at::Tensor>& inputs,
                                const std::vector<at::Tensor>& gradients, bool creates_graph) {
  constants_.GradientsAsked(inputs, creates_graph, *recorder_);
  if (creates_graph) facts_.GradientsGiven(inputs, gradients, *recorder_);
}

void Operations::StepEnds(int optimizer, ProbeRecorder& recorder) {
  passes_.StepEnds();
  options_.StepEnded();
  facts_.StepEnds(optimizer, recorder);
  arithmetic_.AfterStep(optimizer, recorder.clock().step(), recorder);
}

void Operations::Consumed(int optimizer) {
  facts_.weights().Consumed(optimizer, *recorder_);
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
  const Looked looked = static_cast<OperationContext*>(context)->looked;
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
    if (facts_.Is(function, recorder.clock())) facts_.Returned(function, recorder);
  });
}

}  // namespace dlcheck
