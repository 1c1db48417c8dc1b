// The border of the C++ probe: no exception passes it, and after the first one it is quiet.
#include "dlcheck/probe.h"

#include <exception>
#include <optional>
#include <utility>

#include "checks/observe/probe_recorder.h"
#include "checks/records/request.h"

namespace dlcheck {
namespace {

// Does `call` unless nobody watches or the probe failed before.
template <typename Call>
void Guarded(ProbeRecorder* recorder, const Call& call) {
  if (recorder == nullptr || recorder->quiet()) return;
  try {
    const torch::NoGradGuard no_grad;
    call(*recorder);
  } catch (const c10::Error& error) {
    recorder->GoQuiet(error.what_without_backtrace());
  } catch (const std::exception& error) {
    recorder->GoQuiet(error.what());
  }
}

}  // namespace

Probe::Probe(const Options& options) {
  const std::optional<Request> request = RequestFromEnvironment();
  if (request) recorder_ = ProbeRecorder::Create(*request, options);
}

Probe::Probe(torch::nn::Module& model, const Options& options) : Probe(options) { Watch(model); }

Probe::~Probe() = default;

void Probe::Watch(torch::nn::Module& model) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.Watch(model); });
}

int Probe::Optimizes(std::string_view type, std::vector<Group> groups) {
  int number = 0;
  Guarded(recorder_.get(),
          [&](ProbeRecorder& recorder) { number = recorder.Optimizes(type, std::move(groups)); });
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

void Probe::AfterStep(int optimizer, Site site) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.AfterStep(optimizer, site); });
}

void Probe::Cleared(int optimizer, Site site) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.Cleared(optimizer, site); });
}

void Probe::Batch(const torch::Tensor& inputs, Site site) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) { recorder.Batch(inputs, site); });
}

void Probe::Training(bool training, Site site) {
  Guarded(recorder_.get(), [&](ProbeRecorder& recorder) {
    recorder.PutEvent(Event::kMode, site, training ? 1 : 0);
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

void Probe::Evaluated(double loss, int64_t samples) {
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

void Probe::Schedule(double rate, Site site) {
  Guarded(recorder_.get(),
          [&](ProbeRecorder& recorder) { recorder.PutEvent(Event::kSchedule, site, rate); });
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
