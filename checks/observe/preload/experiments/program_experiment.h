// What a run of an unchanged C++ program does differently under one experiment.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <string>

#include "checks/observe/preload/experiments/dispatch_tap.h"
#include "checks/observe/probe/probe_recorder.h"
#include "checks/records/request.h"

namespace dlcheck {

class ProgramExperiment {
 public:
  using Closure = torch::optim::Optimizer::LossClosure;
  using OwnStep = std::function<at::Tensor(Closure)>;

  explicit ProgramExperiment(ProbeRecorder& recorder) : recorder_(&recorder) {}
  virtual ~ProgramExperiment() = default;
  ProgramExperiment(const ProgramExperiment&) = delete;
  ProgramExperiment& operator=(const ProgramExperiment&) = delete;

  // In the place of a step of one of LibTorch's optimizers. The closure is the program's and may be
  // null; what it gives is to be returned.
  virtual at::Tensor Step(torch::optim::Optimizer& optimizer, int number, Closure closure,
                          const OwnStep& own);
  // That step ended; the clock is about to move on, or to end the process.
  virtual void StepEnds() {}
  virtual void Scheduled(torch::optim::Optimizer&) {}
  // An optimizer that is none of LibTorch's: its steps cannot be replaced.
  virtual void MeetsOwnOptimizer();

 protected:
  // Says why the experiment cannot be carried out, and ends the process.
  [[noreturn]] void Refuse(const std::string& reason);
  ProbeRecorder& recorder() { return *recorder_; }

 private:
  ProbeRecorder* recorder_;
};

// The words of the experiments below, with spaces between.
extern const char kProgramExperiments[];

// Null where the request asks for none of them. Experiments that look at operations tap this
// thread.
std::unique_ptr<ProgramExperiment> MakeProgramExperiment(const Request& request,
                                                         ProbeRecorder& recorder);

}  // namespace dlcheck
