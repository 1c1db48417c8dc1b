// The calls of dlcheck/probe.h, handed to the recorder.
#include "dlcheck/probe.h"

#include <dlfcn.h>

#include <optional>
#include <utility>

#include "checks/observe/probe/guarded.h"
#include "checks/observe/probe/probe_recorder.h"
#include "checks/observe/probe/probe_state.h"
#include "checks/records/request.h"

namespace dlcheck {

Probe::Probe(const Options& options) {
  const std::optional<Request> request = RequestFromEnvironment();
  if (!request) return;
  // A preloaded probe leaves the program to this one, which sees more.
  void* yield = dlsym(RTLD_DEFAULT, "dlcheck_yield");
  if (yield != nullptr) reinterpret_cast<void (*)()>(yield)();
  recorder_ = ProbeRecorder::Create(*request, options);
}

Probe::Probe(torch::nn::Module& model, const Options& options) : Probe(options) { Watch(model); }

Probe::~Probe() = default;

void Probe::Watch(torch::nn::Module& model) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.Watch(model); });
}

void Probe::Rank(int rank, int world) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.ranks().Join(rank, world); });
}

void Probe::ReplicaGroup(const std::vector<int>& ranks) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.ranks().Replicate(ranks); });
}

int Probe::RegisterOptimizer(std::string_view type, std::vector<Group> groups, Rule rule) {
  int number = 0;
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    number = recorder.Optimizes(type, std::move(groups), std::move(rule));
  });
  return number;
}

void Probe::BeginStep(int optimizer) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.BeginStep(optimizer); });
}

void Probe::Consume(int optimizer) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.Consume(optimizer); });
}

void Probe::BeforeStep(int optimizer) {
  BeginStep(optimizer);
  Consume(optimizer);
}

void Probe::AfterStep(int optimizer, Site site, bool taken) {
  Guarded(recorder_.get(),
          [&](ProbeRecorder& recorder) { recorder.AfterStep(optimizer, site, taken); });
}

void Probe::ZeroGrad(int optimizer, Site site) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.Cleared(optimizer, site); });
}

void Probe::Batch(const torch::Tensor& inputs, Site site) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.Batch(inputs, site); });
}

void Probe::SetTraining(bool training, Site site) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    recorder.PutMode(recorder.models().model_thing(), site, training);
  });
}

void Probe::Loss(const torch::Tensor& loss, Site site) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.Loss(loss, {}, {}, site); });
}

void Probe::Loss(const torch::Tensor& loss, const torch::Tensor& outputs,
                 const torch::Tensor& targets, Site site) {
  Guarded(recorder_.get(),
          [&](ProbeRecorder& recorder) { recorder.Loss(loss, outputs, targets, site); });
}

void Probe::EvaluationOutputs(const torch::Tensor& outputs, const torch::Tensor& targets) {
  Guarded(recorder_.get(),
          [&](ProbeRecorder& recorder) { recorder.EvaluationOutputs(outputs, targets); });
}

void Probe::EndEvaluation(double loss, int64_t samples) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.Evaluated(loss, samples); });
}

void Probe::Seeded(int64_t seed, Site site) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    recorder.PutEvent(Event::kSeeded, site, static_cast<double>(seed));
  });
}

void Probe::Clip(double bound, Site site) {
  Guarded(recorder_.get(),
          [&](ProbeRecorder& recorder) { recorder.PutEvent(Event::kClip, site, bound); });
}

void Probe::Clip(std::string_view kind, double bound, double p, Site site) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.Clip(kind, bound, p, site); });
}

void Probe::LossScale(double scale) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.LossScale(scale); });
}

void Probe::Unscaled(double scale, Site site) {
  Guarded(recorder_.get(),
          [&](ProbeRecorder& recorder) { recorder.PutEvent(Event::kUnscale, site, scale); });
}

void Probe::ExpectLearningRates(const std::vector<double>& rates, int optimizer) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.Scheduled(rates, optimizer); });
}

void Probe::Epoch(int64_t number) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    recorder.PutEvent(Event::kEpoch, {}, static_cast<double>(number));
  });
}

void Probe::EmaUpdated(double distance, double moved) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.Averaged(distance, moved); });
}

void Probe::Declare(std::string_view key, std::string_view value) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.Declare(key, value); });
}

void Probe::DeclareTied(std::string_view one, std::string_view other) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.models().Tie(one, other); });
}

bool Probe::Sampled() const {
  return recorder_ != nullptr && !recorder_->quiet() && recorder_->clock().sampled();
}

bool Probe::WantsState() const {
  return recorder_ != nullptr && !recorder_->quiet() && recorder_->clock().takes_digest();
}

void Probe::State(const NamedTensors& state) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    WriteStateDigests(recorder.clock(), Quantity::kStateDigest, state);
  });
}

void Probe::Saved(std::string_view path, const NamedTensors& state, const NamedTensors& stored) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    recorder.PutFileEvent(Event::kSaved, path);
    if (!recorder.clock().takes_scalars()) return;
    WriteStateDigests(recorder.clock(), Quantity::kSavedDigest, state);
    WriteStateDigests(recorder.clock(), Quantity::kStoredDigest, stored);
  });
}

void Probe::BeginEvaluation() {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.EvaluationBegins(); });
}

void Probe::FutureSensitivity(double share, double rounding) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    recorder.clock().Put(Quantity::kFutureSensitivity, {recorder.models().model_thing()}, share,
                         rounding);
  });
}

void Probe::RegisterScheduler(int optimizer, int64_t moves) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    recorder.PutOfScheduler(Event::kScheduler, optimizer, {nullptr, 0, nullptr},
                            static_cast<double>(moves));
  });
}

void Probe::SchedulerStepped(double rate, Site site) {
  SchedulerStepped(ProbeRecorder::kOnlyOptimizer, rate, site);
}

void Probe::SchedulerStepped(int optimizer, double rate, Site site) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    recorder.PutOfScheduler(Event::kSchedule, optimizer, site, rate);
  });
}

void Probe::Saved(std::string_view path) {
  Guarded(recorder_.get(),
          [&](ProbeRecorder& recorder) { recorder.PutFileEvent(Event::kSaved, path); });
}

void Probe::Loaded(std::string_view path) {
  Guarded(recorder_.get(),
          [&](ProbeRecorder& recorder) { recorder.PutFileEvent(Event::kLoaded, path); });
}

void Probe::Rejected(std::string_view file, std::string_view cause) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.Reject(file, cause); });
}

}  // namespace dlcheck
