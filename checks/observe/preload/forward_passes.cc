#include "checks/observe/preload/forward_passes.h"

#include <string_view>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/probe/guarded.h"
#include "checks/observe/probe/tensor_summary.h"

namespace dlcheck {
namespace {

constexpr int kMostDoubts = 64;        // passes whose inputs are read
constexpr int64_t kFewestSteps = 100;  // of a run that is to have an evaluation

Probe::Site SiteOfEvaluation(ProbeRecorder& recorder) {
  return recorder.clock().records_evaluation() ? CallSiteOfForward() : Probe::Site{"", 0, ""};
}

bool IsOfModel(const at::Tensor& tensor, const ProbeModels& models) {
  return models.Has(tensor) || (tensor.is_view() && models.Has(at::Tensor(tensor._base())));
}

// What a layer is given, among its parameters, which may be frozen, and what they were transposed
// to; undefined if an operation has parameters alone.
at::Tensor GivenTo(const at::RecordFunction& function, const ProbeModels& models) {
  for (const c10::IValue& input : function.inputs()) {
    if (!input.isTensor() || !input.toTensor().defined()) continue;
    const at::Tensor& tensor = input.toTensor();
    const bool may_be = !tensor.requires_grad() && tensor.dim() > 0;
    if (may_be && !IsOfModel(tensor, models)) return tensor;
  }
  return {};
}

bool IsOfLayer(std::string_view name) {
  return name == "aten::addmm" || name == "aten::linear" || name == "aten::matmul" ||
         name == "aten::embedding" || name.rfind("aten::conv", 0) == 0 || name == "aten::lstm" ||
         name == "aten::gru";
}

}  // namespace

void ForwardPasses::Saw(const at::RecordFunction& function) {
  // Without gradients, by any network.
  if (!at::GradMode::is_enabled() && IsOfLayer(function.name())) may_have_evaluated_ = true;
  // A linear layer of LibTorch transposes its weight, and right after that takes its input.
  if (awaits_input_ != kNone) {
    const int model = std::exchange(awaits_input_, kNone);
    const std::string_view name = function.name();
    if (name == "aten::addmm" || name == "aten::matmul") Begins(model, function);
  }
  if (std::exchange(awaits_rows_, false)) {
    const at::Tensor input = GivenTo(function, recorder_->models());
    Guarded(recorder_, [&](ProbeRecorder& recorder) {
      if (input.defined()) EvaluatesRows(input, recorder);
    });
  }
  if (expects_first_) {
    Guarded(recorder_, [&](ProbeRecorder& recorder) { LookAtFirstInput(function, recorder); });
  }
  bool begins = false;
  for (const c10::IValue& input : function.inputs()) {
    int model = kNone;
    if (input.isTensor() && input.toTensor().defined()) {
      model = ModelThatBegins(input.toTensor(), function.name());
    } else if (input.isTensorList() && input.toListRef().size() > 0) {
      // A recurrent layer takes its weights in a list.
      const c10::IValue& first = input.toListRef()[0];
      if (first.isTensor() && first.toTensor().defined()) {
        model = ModelThatBegins(first.toTensor(), function.name());
      }
    }
    if (model != kNone) Begins(model, function);
    begins = begins || model != kNone;
  }
  if (begins || !in_forward_ || !facts_->batches().WaitsForMore()) return;
  const at::Tensor given = GivenTo(function, recorder_->models());
  if (given.defined()) Guarded(recorder_, [&](auto&) { facts_->batches().GivenToo(given); });
}

// A network that needs no gradients, as a teacher, is followed only if it was met first.
int ForwardPasses::ModelThatBegins(const at::Tensor& tensor, std::string_view operation) {
  for (size_t i = 0; i < followed_.size(); ++i) {
    const Followed& followed = followed_[i];
    if (followed.has_entry && tensor.unsafeGetTensorImpl() == followed.entry._unsafe_get_target()) {
      return operation == followed.operation ? static_cast<int>(i) : kNone;
    }
  }
  const auto models = static_cast<size_t>(recorder_->models().count());
  if (entries_ == models || !at::GradMode::is_enabled()) return kNone;
  const ProbeModels::Parameter* parameter = recorder_->models().Find(tensor);
  if (parameter == nullptr || parameter->model == ProbeModels::kNoModel) return kNone;
  if (parameter->model > 0 && !tensor.requires_grad()) return kNone;
  if (followed_.size() < models) followed_.resize(models);
  Followed& followed = followed_[static_cast<size_t>(parameter->model)];
  if (followed.has_entry) return kNone;
  followed.entry = c10::weak_intrusive_ptr<at::TensorImpl>(tensor.getIntrusivePtr());
  followed.has_entry = true;
  followed.operation = operation;
  ++entries_;
  return parameter->model;
}

void ForwardPasses::Begins(int model, const at::RecordFunction& function) {
  const bool has_gradients = at::GradMode::is_enabled();  // not in what is guarded
  in_forward_ = true;
  Guarded(recorder_, [&](ProbeRecorder& recorder) {
    recorder.models().Run(model);
    if (has_gradients) {
      BeginsWithGradients(model, function, recorder);
    } else {
      Evaluates(model, has_gradients, function, recorder);
    }
  });
}

// Of the first batch of an evaluation: later inputs may be what the model made of earlier ones.
void ForwardPasses::LookAtFirstInput(const at::RecordFunction& function, ProbeRecorder& recorder) {
  const at::Tensor input = GivenTo(function, recorder_->models());
  if (!input.defined()) return;
  expects_first_ = false;
  scales_.Evaluated(input, CallSiteOfForward(), recorder);
}

void ForwardPasses::LossGiven(const std::string& name, const at::Tensor& outputs,
                              const at::Tensor& targets) {
  const bool has_classes = name == "cross_entropy" || name == "nll_loss";
  // Square scores may be those of pairs.
  if (has_classes && outputs.dim() == 2 && targets.dim() == 1 &&
      outputs.size(0) != outputs.size(1)) {
    classifies_by_ = name;
  }
}

void ForwardPasses::RunEnds(ProbeRecorder& recorder) {
  ProbeClock& clock = recorder.clock();
  if (classifies_by_.empty() || may_have_evaluated_ || clock.step() < kFewestSteps) return;
  clock.Put(Quantity::kNoEvaluation, {clock.writer().Thing("loss", 0, classifies_by_)},
            static_cast<double>(clock.step()));
}

void ForwardPasses::Evaluates(int model, bool has_gradients, const at::RecordFunction& function,
                              ProbeRecorder& recorder) {
  may_have_evaluated_ = true;
  if (evaluated_ == kNone) {
    recorder.EvaluationBegins();
    evaluated_ = model;
    expects_first_ = true;
    LookAtFirstInput(function, recorder);
  }
  Followed& followed = followed_[static_cast<size_t>(model)];
  if (std::exchange(followed.in_doubt, false)) {
    recorder.EvaluationForward(false, true, followed.site);
  }
  loaders_.Enters(/*evaluates=*/true, recorder);
  const at::Tensor input = GivenTo(function, recorder_->models());
  awaits_rows_ = !input.defined();
  if (input.defined()) EvaluatesRows(input, recorder);
  recorder.EvaluationForward(recorder.models().IsTraining(), has_gradients,
                             SiteOfEvaluation(recorder));
}

void ForwardPasses::BeginsWithGradients(int model, const at::RecordFunction& function,
                                        ProbeRecorder& recorder) {
  Followed& followed = followed_[static_cast<size_t>(model)];
  const bool is_training = recorder.models().IsTraining();
  if (!followed.expects_batch) {
    // No backward came since the pass before.
    may_have_evaluated_ = true;
    if (followed.has_trained && !is_training) Evaluates(model, true, function, recorder);
    if (!is_training || !std::exchange(followed.in_doubt, false)) return;
    // Training goes on, and the pass before was the only one of an evaluation.
    recorder.EvaluationBegins();
    recorder.EvaluationForward(false, true, followed.site);
    recorder.EvaluationInputs(followed.digest);
    recorder.EvaluationEnded();
  }
  const at::Tensor input = GivenTo(function, recorder_->models());
  if (!input.defined()) {
    awaits_input_ = model;
    return;
  }
  followed.expects_batch = false;
  followed.in_doubt = followed.has_trained && !is_training && input.device().is_cpu() &&
                      input.layout() == at::kStrided && doubts_ < kMostDoubts;
  if (followed.in_doubt) {
    ++doubts_;
    followed.site = CallSiteOfForward();
    followed.digest = DigestTensors({input});
  }
  followed.has_trained = followed.has_trained || is_training;
  has_trained_ = has_trained_ || followed.has_trained;
  loaders_.Enters(/*evaluates=*/false, recorder);
  if (is_training) Trains(model, input, recorder);
  // What a normalization layer is given, it scales itself.
  const bool is_scaled = std::string_view(function.name()).find("norm") != std::string_view::npos;
  if (recorder.clock().sampled() && !is_scaled) recorder.FirstInput(input);
  if (is_training && recorder.clock().sampled()) rows_.Trained(input);
  recorder.Batch(input, CallSite());
}

void ForwardPasses::Trains(int model, const at::Tensor& input, ProbeRecorder& recorder) {
  scales_.Trained(input, recorder);
  parts_->ForwardBegins(input, recorder);
  captured_->Given(model, input);
  facts_->Enters(input, loaders_.entered(), recorder);
}

void ForwardPasses::EvaluatesRows(const at::Tensor& input, ProbeRecorder& recorder) {
  facts_->batches().EvaluationEnters(input, loaders_.entered(), recorder);
  if (recorder.clock().records_evaluation()) rows_.Evaluated(input);
}

void ForwardPasses::BackwardBegins() {
  for (Followed& followed : followed_) {
    followed.expects_batch = true;
    followed.in_doubt = false;
  }
}

void ForwardPasses::LossWithoutGradients(double mean, int64_t samples) {
  if (evaluated_ == kNone) return;
  sum_ += mean * static_cast<double>(samples);
  samples_ += samples;
}

void ForwardPasses::TrainingGoesOn() {
  if (evaluated_ == kNone) return;
  const int model = std::exchange(evaluated_, kNone);
  expects_first_ = false;
  const int64_t samples = std::exchange(samples_, 0);
  const double sum = std::exchange(sum_, 0);
  Guarded(recorder_, [&](ProbeRecorder& recorder) {
    const int running = recorder.models().running();
    recorder.models().Run(model);
    const double mean = samples > 0 ? sum / static_cast<double>(samples) : 0;
    samples > 0 ? recorder.Evaluated(mean, samples) : recorder.EvaluationEnded();
    const uint32_t thing = recorder.models().model_thing();
    if (samples > 0 && recorder.clock().records_evaluation()) {
      recorder.clock().Put(Quantity::kEvaluationLoss, {thing}, mean, static_cast<double>(samples));
    }
    const SeenRows::Evaluation seen = rows_.EvaluationEnds(thing, recorder);
    facts_->batches().EvaluationEnds(thing, seen.rows, seen.is_new, recorder);
    recorder.models().Run(running);
  });
}

}  // namespace dlcheck
