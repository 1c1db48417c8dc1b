// What the preloaded probe makes of the calls that it sees: it finds models and optimizers, and
// tells the recorder of the probe what a program with the two lines would tell it.
// One thread is watched, that of the first optimizer. A watcher stays until the process ends.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "checks/observe/preload/captured.h"
#include "checks/observe/preload/equal_rows.h"
#include "checks/observe/preload/experiments/program_experiment.h"
#include "checks/observe/preload/forgotten_weights.h"
#include "checks/observe/preload/kept_graphs.h"
#include "checks/observe/preload/operations.h"
#include "checks/observe/preload/optimizer_settings.h"
#include "checks/observe/preload/replaced_optimizers.h"
#include "checks/observe/preload/restored_state.h"
#include "checks/observe/preload/state_parts.h"
#include "checks/observe/preload/unseen_steps.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class Watcher {
 public:
  static constexpr int kUnwatched = -1;  // of an optimizer beyond those that are watched

  // The watcher, if this call is to be looked at: null outside of `dlcheck run`, in other threads,
  // in calls that the probe itself makes, and after another probe took over.
  static Watcher* Here();
  static Watcher* Begin() noexcept;           // makes it where there is none
  static Watcher* BeginWithModel() noexcept;  // makes it only where a model was seen
  static void EndAll();
  // The process is about to end without a word to its threads. Closes the records, unless a handler
  // of a signal ends it, which may have interrupted anything.
  static void ProcessEnds() noexcept;
  static void EndOfThread();

  class Inside {  // while one lives, calls of this thread are the probe's own
   public:
    Inside();
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    bool before_;
  };
  // A model is certainly alive and whole: somebody asks for its parameters.
  static void SawModel(const torch::nn::Module& model) noexcept;
  void ModeSet(const torch::nn::Module& module, bool is_training, bool is_outermost);
  void OptimizerBuilt(const torch::optim::Optimizer& optimizer);
  int BeginStep(torch::optim::Optimizer& optimizer);
  void Consume(int number);
  void AfterStep(const torch::optim::Optimizer& optimizer, int number);
  void LeaveStep();                                                   // it returned or threw
  void StepPauses(bool pauses) { operations_.SetStepping(!pauses); }  // while its closure runs
  void ZeroingBegins();
  void Cleared(torch::optim::Optimizer& optimizer);
  void BackwardBegins(const std::vector<at::Tensor>& roots);
  void BackwardEnds();
  void GradModeSet();
  void GradientsGiven(const std::vector<at::Tensor>& inputs,
                      const std::vector<at::Tensor>& gradients, bool creates_graph);
  void PlateauGiven(bool is_max, double metric);
  void RateSet(const torch::optim::OptimizerOptions& options, double lr);
  void GeneratorAsked();  // by the program itself
  void BatchChosen(const ChosenBatch& batch);
  void SchedulerBuilt(torch::optim::Optimizer& optimizer);
  void Scheduled(torch::optim::Optimizer& optimizer);
  static void FileRead(const std::string& path) noexcept;
  static void ModuleRead(const torch::nn::Module& module) noexcept;  // perhaps before all else
  void OptimizerRead(torch::optim::Optimizer& optimizer);
  // A "model" or an "optimizer" goes into an archive; an archive, into a file.
  void Stored(const char* kind) { restored_.Stored(kind); }
  void Saved(const std::string& path);
  ProgramExperiment* experiment() { return experiment_.get(); }  // null in a plain run
  Watcher(const Request& request, std::unique_ptr<ProbeRecorder> recorder);

 private:
  friend class Operations;
  struct Known {
    int number;
    // The optimizer while it is known to live: null from the time another is built in its place.
    std::shared_ptr<const torch::optim::Optimizer*> alive;
  };
  int NumberOf(torch::optim::Optimizer& optimizer);
  int WatchModels();  // how many are new
  // Gives the watcher of this thread, or null where there is none yet; nothing in other threads.
  static void Reads(const std::function<void(Watcher*)>& use) noexcept;
  void TakeEarlyReads();
  bool HasRoomFor(const std::vector<at::Tensor>& tensors);

  std::unique_ptr<ProbeRecorder> recorder_;
  std::unique_ptr<ProgramExperiment> experiment_;
  ForgottenWeights forgotten_;
  StateParts parts_;
  Captured captured_;
  Operations operations_;
  UnseenSteps unseen_;
  KeptGraphs graphs_;
  OptimizerSettings settings_;
  EqualRows equal_rows_;
  ReplacedOptimizers replaced_;
  RestoredState restored_;
  uint64_t held_bytes_ = 0;  // of tensors that are watched, and so stay until the process ends
  size_t held_ = 0;          // models and optimizers
  int late_models_ = 0;      // that were met at a backward
  bool in_step_ = false;     // of LibTorch's own optimizers, or a closure in one
  std::unordered_map<const torch::optim::Optimizer*, Known> optimizers_;
  // Where optimizers were built, by the address that they had then.
  std::unordered_map<const torch::optim::Optimizer*, Probe::Site> built_;
  Probe::Site last_built_{"", 0, ""};
};

}  // namespace dlcheck
