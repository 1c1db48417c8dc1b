// What stands behind an active Probe. Throws what torch throws; probe.cc stops that.
#pragma once

#include <torch/torch.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checks/observe/probe/loss_call.h"
#include "checks/observe/probe/probe_clock.h"
#include "checks/observe/probe/probe_hooks.h"
#include "checks/observe/probe/probe_loss.h"
#include "checks/observe/probe/probe_models.h"
#include "checks/observe/probe/probe_optimizer.h"
#include "checks/observe/probe/probe_ranks.h"
#include "checks/observe/probe/target_classes.h"
#include "dlcheck/probe.h"

namespace dlcheck {

class ProbeRecorder {
 public:
  static constexpr int kOnlyOptimizer = -1;  // of which a caller need not know the number

  // None if the files cannot be made. Ends the process if `options` lack the experiment asked for.
  static std::unique_ptr<ProbeRecorder> Create(const Request& request,
                                               const Probe::Options& options);

  ProbeRecorder(const Request& request, std::unique_ptr<TraceWriter> writer);
  ~ProbeRecorder();

  ProbeClock& clock() { return clock_; }
  ProbeModels& models() { return models_; }
  const ProbeModels& models() const { return models_; }
  ProbeRanks& ranks() { return ranks_; }
  uint32_t Site(const Probe::Site& site);

  void Watch(torch::nn::Module& model);
  void Watch(const ModelTree& model);
  int Optimizes(std::string_view type, std::vector<Probe::Group> groups, Probe::Rule rule);
  const ProbeOptimizer& Optimizer(int optimizer) const { return *optimizers_.at(At(optimizer)); }
  void BeginStep(int optimizer) { optimizers_.at(At(optimizer))->BeginStep(); }
  void Consume(int optimizer);
  void AfterStep(int optimizer, const Probe::Site& site, bool taken);
  void Cleared(int optimizer, const Probe::Site& site);
  void Batch(const at::Tensor& inputs, const Probe::Site& site);
  void Loss(const at::Tensor& loss, const at::Tensor& outputs, const at::Tensor& targets,
            const Probe::Site& site);
  uint32_t LossReturned(const LossCall& call);  // its thing; of a program that calls no Loss()
  // What the first layer of the model is given, of a sampled step.
  void FirstInput(const at::Tensor& input);
  // Tokens (rows, positions) that are looked up in a forward pass; anything else is passed over.
  void SawTokens(const at::Tensor& tokens) {
    const bool are = tokens.defined() && tokens.scalar_type() == at::kLong && tokens.dim() == 2;
    if (are && !tokens_.defined()) tokens_ = tokens;
  }
  void OptimizerBuilt(int optimizer, const Probe::Site& site);
  // A backward begins, perhaps from what a loss function returned, times a number.
  void BackwardFrom(const at::Tensor& root, const Probe::Site& site);
  void EvaluationOutputs(const at::Tensor& outputs, const at::Tensor& targets);
  void PutEvent(Event event, const Probe::Site& site, double value);
  // The mode of a whole model was set.
  void PutMode(uint32_t model, const Probe::Site& site, bool is_training);
  void PutFileEvent(Event event, std::string_view path, const Probe::Site& site = {"", 0, ""});
  void PutOfScheduler(Event event, int optimizer, const Probe::Site& site, double value);
  void Reject(std::string_view file, std::string_view cause);
  void Evaluated(double loss, int64_t samples);
  void EvaluationBegins();
  // A pass of an evaluation of which the outputs are not known; the end of one without a loss.
  void EvaluationForward(bool is_training, bool has_gradients, const Probe::Site& site);
  // The digest of all inputs of an evaluation that is about to end.
  void EvaluationInputs(uint64_t digest);
  void EvaluationEnded();
  void Clip(std::string_view kind, double bound, double p, const Probe::Site& site);
  void LossScale(double scale);
  void Scheduled(const std::vector<double>& rates, int optimizer);
  void Averaged(double distance, double moved);
  void Declare(std::string_view key, std::string_view value);

  // The probe failed: writes why and nothing more.
  void GoQuiet(std::string_view reason);
  bool quiet() const { return quiet_; }

 private:
  static size_t At(int optimizer) { return static_cast<size_t>(optimizer); }
  void BeforeBackward();
  void DescribeMaker(const LossCall& call);
  void TellOnce(uint32_t thing, const char* key, const std::string& value);
  static bool IsFromReturned(const at::Tensor& root, const ReturnedLoss& returned);
  void WriteLoss(const at::Tensor& loss, double samples);
  void WriteLossShare(const at::Tensor& loss, const at::Tensor& mean, int64_t count);
  void DescribeLoss(const at::Tensor& loss, const at::Tensor& outputs, const at::Tensor& targets,
                    const std::string& kind);
  void WriteStepTimeAndMemory(uint32_t owner);

  bool quiet_ = false;
  ProbeClock clock_;
  ProbeModels models_;
  ProbeRanks ranks_;
  std::vector<std::unique_ptr<ProbeOptimizer>> optimizers_;
  ForwardWatch forward_;
  BackwardWatch backward_;
  InitialLosses initial_;
  uint32_t loss_thing_ = 0, loss_site_ = 0;  // of the next backward
  bool compares_all_ = false;                // the loss was seen to broadcast
  ReturnedLoss returned_;
  std::map<std::pair<uint32_t, std::string>, std::string> told_;  // attributes of losses
  at::Tensor tokens_;  // that the forward under way looked up first; undefined if it did not
  uint32_t usual_loss_thing_ = 0;  // of backward calls whose loss function is known
  double usual_loss_samples_ = 0;
  std::optional<uint64_t> last_step_end_;
  int64_t last_batch_step_ = -1, batch_samples_ = 0;
  TargetClasses classes_;
};

}  // namespace dlcheck
