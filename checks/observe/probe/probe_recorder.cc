#include "checks/observe/probe/probe_recorder.h"

#include "checks/observe/probe/probe_state.h"

#include <sys/resource.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/version.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace dlcheck {
namespace {

constexpr double kSecondsInNanosecond = 1e-9;
constexpr double kKibibyte = 1024;

// Of this process now, without pages of files; 0 where the system does not tell.
double ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  double size = 0, resident = 0, shared = 0;
  if (!(file >> size >> resident >> shared)) return 0;
  return (resident - shared) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

bool Lists(const std::string& words, const std::string& word) {
  return (" " + words + " ").find(" " + word + " ") != std::string::npos;
}

}  // namespace

std::unique_ptr<ProbeRecorder> ProbeRecorder::Create(const Request& request,
                                                     const Probe::Options& options) {
  TraceWriter::Options writing;
  writing.run_folder = request.run_folder;
  writing.size_cap_bytes = request.size_cap_bytes;
  writing.run = request.run;
  const char* rank = std::getenv("RANK");  // what most launchers say; Rank() knows better
  writing.rank = rank == nullptr ? 0 : static_cast<uint16_t>(std::atoi(rank));
  Expected<std::unique_ptr<TraceWriter>> writer = TraceWriter::Create(writing);
  if (!writer.ok()) return nullptr;
  (*writer)->Attribute(0, "capabilities", options.capabilities);
  (*writer)->Attribute(0, "torch", TORCH_VERSION);
  (*writer)->Attribute(0, "program", program_invocation_name);
  auto recorder = std::make_unique<ProbeRecorder>(request, std::move(*writer));
  if (!Lists(options.capabilities, request.experiment)) {
    recorder->clock_.Refuse("C++ programs are not run in this way");
  }
  return recorder;
}

ProbeRecorder::ProbeRecorder(const Request& request, std::unique_ptr<TraceWriter> writer)
    : clock_(request, std::move(writer)),
      models_(clock_),
      ranks_(clock_),
      forward_(clock_, models_, ranks_),
      backward_([this] { BeforeBackward(); }) {
  forward_.BeginStep();
}

ProbeRecorder::~ProbeRecorder() {
  ranks_.End();
  clock_.Finish();
}

uint32_t ProbeRecorder::Site(const Probe::Site& site) {
  return clock_.sampled() ? clock_.writer().Site(site.file, site.line, site.function) : 0;
}

void ProbeRecorder::Watch(torch::nn::Module& model) {
  models_.Add(model);
  backward_.Add(models_.Leaves());
}

void ProbeRecorder::Watch(const ModelTree& model) {
  models_.Add(model);
  backward_.Add(models_.Leaves());
}

int ProbeRecorder::Optimizes(std::string_view type, std::vector<Probe::Group> groups,
                             Probe::Rule rule) {
  const int ordinal = static_cast<int>(optimizers_.size());
  optimizers_.push_back(std::make_unique<ProbeOptimizer>(clock_, models_, ordinal, type,
                                                         std::move(groups), std::move(rule)));
  backward_.Add(models_.Leaves());
  return ordinal;
}

// Called from within the first accumulation of a backward call.
void ProbeRecorder::BeforeBackward() {
  if (quiet_) return;
  // Gradients are enabled in a backward pass that is to have a graph of its own.
  const double makes_graph = torch::GradMode::is_enabled() ? 1 : 0;
  const double keeps_graph = torch::autograd::get_current_graph_task_keep_graph() ? 1 : 0;
  const torch::NoGradGuard no_grad;
  const bool first = clock_.micro_step() == 0;
  if (first) ranks_.BeginBackward(last_step_end_);
  for (const auto& optimizer : optimizers_) {
    optimizer->BeforeBackward();
    if (first && clock_.sampled()) optimizer->WriteHeld();
  }
  if (loss_thing_ == 0) loss_thing_ = LossThing(clock_, "", 0);
  clock_.Put(Event::kBackward, {loss_thing_, 0, loss_site_}, keeps_graph, makes_graph);
  clock_.CountBackward();
}

void ProbeRecorder::Consume(int optimizer) {
  ProbeOptimizer& stepping = *optimizers_.at(At(optimizer));
  ranks_.WriteReplicas(stepping.Parameters());
  stepping.Consume();
}

void ProbeRecorder::AfterStep(int optimizer, const Probe::Site& site, bool taken) {
  ProbeOptimizer& stepped = *optimizers_.at(At(optimizer));
  stepped.AfterStep(taken);
  forward_.WriteProducts(stepped.thing());
  if (clock_.step() == 0) initial_.Write(clock_);
  WriteStepTimeAndMemory(stepped.thing());
  if (!taken) clock_.Put(Event::kSkipped, {stepped.thing(), stepped.thing()});
  clock_.Put(Event::kStep, {stepped.thing(), stepped.thing(), Site(site)});
  clock_.EndStep();
  if (clock_.takes_digest()) backward_.Add(models_.Leaves());
  forward_.BeginStep();
}

void ProbeRecorder::WriteStepTimeAndMemory(uint32_t owner) {
  const uint64_t now = MonotonicTime();
  if (clock_.sampled()) {
    if (last_step_end_) {
      clock_.Put(Quantity::kStepTime, {0, owner},
                 static_cast<double>(now - *last_step_end_) * kSecondsInNanosecond);
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    clock_.Put(Quantity::kMemory, {0, owner}, static_cast<double>(usage.ru_maxrss) * kKibibyte);
    if (const double resident = ResidentBytes(); resident > 0) {
      clock_.Put(Quantity::kResidentMemory, {0, owner}, resident);
    }
  }
  last_step_end_ = now;
}

void ProbeRecorder::Cleared(int optimizer, const Probe::Site& site) {
  const uint32_t thing = optimizers_.at(At(optimizer))->thing();
  clock_.Put(Event::kCleared, {thing, thing, Site(site)});
}

void ProbeRecorder::Batch(const at::Tensor& inputs, const Probe::Site& site) {
  const uint32_t model = models_.model_thing();
  if (models_.running() == 0 && models_.IsTraining()) ranks_.BeginForward(models_.device());
  batch_samples_ = inputs.dim() > 0 ? inputs.size(0) : 1;
  clock_.Put(Event::kUsed, {model, model, Site(site)}, static_cast<double>(batch_samples_));
  if (!clock_.sampled() || last_batch_step_ == clock_.step()) return;
  last_batch_step_ = clock_.step();
  if (clock_.takes_digest()) {
    clock_.PutDigest(Quantity::kBatchDigest, {model}, DigestTensors({inputs}));
  }
  // An accelerator is not made to wait for what only the ranks need.
  if (ranks_.are_many() || inputs.device().is_cpu()) {
    clock_.PutDigest(Quantity::kBatchFingerprint, {model}, DigestTensors({inputs}));
  }
  if (!inputs.is_floating_point()) return;
  clock_.transfer().Add(Norms({inputs.detach()}), [this, model, inputs, moment = clock_.now()](
                                                      const std::vector<double>& values) {
    const double nonfinite = std::isfinite(values[0]) ? 0 : CountNonFinite(inputs);
    clock_.Put(Quantity::kInputNorm, {model}, moment, values[0], nonfinite);
  });
}

void ProbeRecorder::EvaluationOutputs(const at::Tensor& outputs, const at::Tensor& targets) {
  clock_.PutOfEvaluation(Event::kEvaluationForward, {models_.model_thing()},
                         models_.IsTraining() ? 1 : 0, outputs.requires_grad() ? 1 : 0);
  if (clock_.step() == 0) initial_.Add(LossKind(outputs, targets), outputs, targets);
  ranks_.Evaluate(models_);
}

void ProbeRecorder::PutEvent(Event event, const Probe::Site& site, double value) {
  clock_.Put(event, {0, 0, site.file == nullptr ? 0 : Site(site)}, value);
}

void ProbeRecorder::PutMode(uint32_t model, const Probe::Site& site, bool is_training) {
  clock_.Put(Event::kMode, {model, 0, site.file == nullptr ? 0 : Site(site)}, is_training ? 1 : 0);
}

void ProbeRecorder::PutFileEvent(Event event, std::string_view path, const Probe::Site& site) {
  TraceWriter& writer = clock_.writer();
  const uint32_t at = site.line == 0 ? 0 : writer.Site(site.file, site.line, site.function);
  clock_.PutSeldom(event, {writer.Thing("file", 0, path), 0, at});
}

// A scheduler is known by its optimizer, of which it is the only one; -1 is the only optimizer.
void ProbeRecorder::PutOfScheduler(Event event, int optimizer, const Probe::Site& site,
                                   double value) {
  if (optimizer == kOnlyOptimizer && optimizers_.size() == 1) optimizer = 0;
  ProbeClock::About about{0, 0, site.file == nullptr ? 0 : Site(site)};
  if (optimizer != kOnlyOptimizer) {
    about.owner = optimizers_.at(At(optimizer))->thing();
    about.thing = clock_.writer().Thing("scheduler", optimizer, "scheduler");
  }
  clock_.Put(event, about, value);
}

void ProbeRecorder::Reject(std::string_view file, std::string_view cause) {
  const uint32_t thing = clock_.writer().Thing("file", 0, file);
  clock_.writer().Attribute(thing, "cause", cause);
  clock_.Put(Event::kInputRejected, {thing});
}

void ProbeRecorder::EvaluationBegins() {
  clock_.BeginEvaluation();
  clock_.PutOfEvaluation(Event::kEvaluationBegan, {models_.model_thing()});
  WriteModelDigests(clock_, models_);
}

void ProbeRecorder::Clip(std::string_view kind, double bound, double p, const Probe::Site& site) {
  clock_.Put(Event::kClip, {clock_.writer().Thing("clip", 0, kind), 0, Site(site)}, bound, p);
}

void ProbeRecorder::LossScale(double scale) {
  if (!clock_.takes_scalars()) return;
  clock_.Put(Quantity::kLossScale, {clock_.writer().Thing("scaler", 0, "scaler")}, scale);
}

void ProbeRecorder::Scheduled(const std::vector<double>& rates, int optimizer) {
  if (clock_.takes_scalars()) optimizers_.at(At(optimizer))->WriteScheduled(rates);
}

void ProbeRecorder::Averaged(double distance, double moved) {
  if (!clock_.sampled()) return;
  const ProbeClock::About about{clock_.writer().Thing("average", 0, "average")};
  clock_.Put(Quantity::kAverageDistance, about, distance);
  clock_.Put(Quantity::kAverageUpdate, about, moved);
}

void ProbeRecorder::Declare(std::string_view key, std::string_view value) {
  clock_.writer().Attribute(0, "declared." + std::string(key), value);
}

void ProbeRecorder::FirstInput(const at::Tensor& input) {
  if (!input.is_floating_point() || input.numel() == 0) return;
  const double norm = input.detach().to(at::kDouble).norm().item<double>();
  if (!std::isfinite(norm)) return;
  clock_.Put(Quantity::kInputScale, {models_.first_module_thing()},
             norm / std::sqrt(static_cast<double>(input.numel())));
}

void ProbeRecorder::OptimizerBuilt(int optimizer, const Probe::Site& site) {
  const uint32_t thing = optimizers_.at(At(optimizer))->thing();
  clock_.Put(Event::kOptimizerBuilt, {thing, thing, Site(site)});
}

void ProbeRecorder::EvaluationForward(bool is_training, bool has_gradients,
                                      const Probe::Site& site) {
  const bool has_site = clock_.records_evaluation() && site.file[0] != '\0';
  const uint32_t at = has_site ? clock_.writer().Site(site.file, site.line, site.function) : 0;
  clock_.PutOfEvaluation(Event::kEvaluationForward, {models_.model_thing(), 0, at},
                         is_training ? 1 : 0, has_gradients ? 1 : 0);
}

void ProbeRecorder::EvaluationInputs(uint64_t digest) {
  if (!clock_.records_evaluation()) return;
  clock_.PutDigest(Quantity::kEvaluationFingerprint, {models_.model_thing()}, digest);
}

void ProbeRecorder::EvaluationEnded() {
  ranks_.EndEvaluation();
  WriteModelDigests(clock_, models_);
  clock_.PutOfEvaluation(Event::kEvaluationEnded, {models_.model_thing()});
}

void ProbeRecorder::Evaluated(double loss, int64_t samples) {
  ranks_.EndEvaluation();
  WriteModelDigests(clock_, models_);
  clock_.PutOfEvaluation(Event::kEvaluated, {}, loss, static_cast<double>(samples));
}

void ProbeRecorder::GoQuiet(std::string_view reason) {
  quiet_ = true;
  clock_.Put(Event::kQuiet, {});
  clock_.writer().Attribute(0, "quiet", reason);
}

}  // namespace dlcheck
