#include "checks/observe/preload/experiments/trials.h"

#include <algorithm>
#include <utility>

#include "checks/observe/preload/experiments/dropout_off.h"
#include "checks/observe/preload/loss_functions.h"

namespace dlcheck {
namespace {

constexpr size_t kResult = SIZE_MAX;  // in the place of an argument

// As in evaluation mode, where there are running statistics.
void UseRunningStatistics(const c10::FunctionSchema& schema, OperationValues& arguments) {
  constexpr size_t kRunningMean = 3, kIsTraining = 5;
  if (schema.name() != "aten::batch_norm" || !arguments[kRunningMean].isTensor()) return;
  if (arguments[kRunningMean].toTensor().defined()) arguments[kIsTraining] = false;
}

}  // namespace

Trials::Trials(ProbeRecorder& recorder) : StandIns(recorder, 0) {
  trials_.push_back(MakeNeighborTrial());
  trials_.push_back(MakeFutureTrial());
}

at::Tensor Trials::Step(torch::optim::Optimizer& optimizer, int, Closure closure,
                        const OwnStep& own) {
  if (optimizer_ == nullptr) optimizer_ = &optimizer;
  if (optimizer_ != &optimizer) Refuse("more than one optimizer steps");
  if (phase_ == Phase::kMoving) return own(std::move(closure));
  if (!closure) return {};
  const torch::AutoGradMode enabled(true);
  return closure();
}

void Trials::Before(const c10::FunctionSchema& schema, bool has_gradients,
                    OperationValues& arguments) {
  if (phase_ != Phase::kMoving) {
    SwitchDropoutOff(schema, arguments);
    UseRunningStatistics(schema, arguments);
  }
  StandIns::Before(schema, has_gradients, arguments);
}

void Trials::After(const c10::FunctionSchema& schema, const OperationValues& arguments,
                   OperationValues& results) {
  StandIns::After(schema, arguments, results);
  if (rows_.Called(schema, arguments, results) && IsData(results[0].toTensor())) {
    results[0] = Source(NextPlace(schema, kResult, 0), results[0].toTensor());
    (void)rows_.Called(schema, arguments, results);
  }
  Look(schema, arguments, results);
}

void Trials::Look(const c10::FunctionSchema& schema, const OperationValues& arguments,
                  const OperationValues& results) {
  if (outputs_.defined()) return;
  if (FindLossFunction(schema.name()) != nullptr && arguments[0].toTensor().requires_grad()) {
    outputs_ = arguments[0].toTensor().detach().clone();
    return;
  }
  if (phase_ != Phase::kAgain && phase_ != Phase::kChanged) return;
  if (results.empty() || !results[0].isTensor() || !results[0].toTensor().defined()) return;
  const at::Tensor& made = results[0].toTensor();
  if (!made.is_floating_point() || !(made.requires_grad() || rows_.IsOfDrawn(made))) return;
  const at::Tensor staying = trials_[trial_]->Staying(made);
  if (staying.defined()) change_.Made(schema.name(), staying);
}

at::Tensor Trials::Again(const KeptData& kept) const {
  return phase_ == Phase::kChanged ? trials_[trial_]->Changed(kept.data, kept.use)
                                   : kept.data.clone();
}

// A batch is put together, also one of an evaluation, which has another place or shape.
at::Tensor Trials::Source(const DataPlace& place, const at::Tensor& data) {
  if (phase_ == Phase::kKeeping) {
    kept_.data.emplace(place, KeptData{data.clone(), DataUse::kSource, true});
  }
  const bool replaces = phase_ == Phase::kAgain || phase_ == Phase::kChanged;
  if (!replaces || !trials_[trial_]->ChangesSources()) return data;
  const auto found = kept_.data.find(place);
  const bool fits = found != kept_.data.end() && found->second.data.sizes() == data.sizes();
  return fits ? Again(found->second) : data;
}

at::Tensor Trials::StandIn(const DataPlace& place, const at::Tensor& data, DataUse use) {
  if (phase_ == Phase::kMoving || phase_ == Phase::kOver) return data;
  if (phase_ == Phase::kKeeping) {
    kept_.data.emplace(place, KeptData{data.detach().clone(), use, rows_.HaveSamples(data)});
    return data;
  }
  // What was made of a batch that was replaced already.
  if (trials_[trial_]->ChangesSources() && rows_.IsOfDrawn(data)) return data;
  const auto found = kept_.data.find(place);
  if (found == kept_.data.end() || found->second.data.sizes() != data.sizes()) {
    Refuse("the data of one step cannot replace those of another");
  }
  return Again(found->second);
}

void Trials::TrainingStepEnds() {
  const at::Tensor outputs = std::exchange(outputs_, {});
  if (phase_ == Phase::kMoving) {
    randomness_ = at::detail::getDefaultCPUGenerator().get_state();
    phase_ = Phase::kKeeping;
    return;
  }
  if (phase_ == Phase::kKeeping) {
    if (!outputs.defined()) Refuse("no loss function of LibTorch was called with outputs");
    kept_.outputs = outputs;
    BeginTrial();
  } else if (phase_ == Phase::kAgain) {
    again_ = outputs;
    change_.BeginsComparing();
    phase_ = Phase::kChanged;
  } else if (phase_ == Phase::kChanged) {
    if (again_.defined() && outputs.defined()) {
      outputs_ = outputs;
      EndTrial();
      outputs_.reset();
    }
    ++trial_;
    BeginTrial();
  }
  at::Generator(at::detail::getDefaultCPUGenerator()).set_state(randomness_);
}

void Trials::BeginTrial() {
  for (; trial_ < trials_.size(); ++trial_) {
    const std::string reason = trials_[trial_]->Prepare(kept_);
    if (reason.empty()) break;
    GiveUp(trials_[trial_]->name(), reason);
  }
  phase_ = trial_ < trials_.size() ? Phase::kAgain : Phase::kOver;
  change_.BeginsKeeping();
}

void Trials::EndTrial() {
  const ModelTrial& trial = *trials_[trial_];
  const std::string doubt = trial.Doubt(kept_.outputs, outputs_);
  if (!doubt.empty()) return GiveUp(trial.name(), doubt);
  const at::Tensor before = trial.Staying(kept_.outputs);
  const double rounding = DistanceOf(before, trial.Staying(again_));
  const double share = DistanceOf(before, trial.Staying(outputs_));
  const uint32_t site = share > rounding && change_.site() ? recorder().Site(*change_.site()) : 0;
  recorder().clock().Put(trial.quantity(), {recorder().models().model_thing(), 0, site}, share,
                         rounding);
}

void Trials::GiveUp(const char* trial, const std::string& reason) {
  recorder().clock().writer().Attribute(recorder().models().model_thing(),
                                        std::string("untried/") + trial, reason);
}

}  // namespace dlcheck
