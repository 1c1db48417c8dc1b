#include "checks/observe/preload/experiments/program_experiment.h"

#include <utility>

#include "checks/observe/preload/experiments/limited_data.h"
#include "checks/observe/preload/experiments/mean_inputs.h"
#include "checks/observe/preload/experiments/one_batch.h"
#include "checks/observe/preload/experiments/reference_optimizer.h"
#include "checks/observe/preload/experiments/trials.h"
#include "checks/observe/preload/experiments/zero_rate.h"
#include "checks/observe/preload/watcher.h"

namespace dlcheck {

const char kProgramExperiments[] = "one_batch reference mean_inputs limited_data trials zero_lr";

at::Tensor ProgramExperiment::Step(torch::optim::Optimizer&, int, Closure closure,
                                   const OwnStep& own) {
  return own(std::move(closure));
}

void ProgramExperiment::MeetsOwnOptimizer() {
  Refuse("an optimizer is none of LibTorch's, so its steps cannot be replaced");
}

void ProgramExperiment::Refuse(const std::string& reason) {
  const Watcher::Inside inside;
  recorder_->clock().Refuse(reason);
}

std::unique_ptr<ProgramExperiment> MakeProgramExperiment(const Request& request,
                                                         ProbeRecorder& recorder) {
  const std::string& word = request.experiment;
  const double rate = request.reference_rate.value_or(0);
  if (word == "one_batch") return std::make_unique<OneBatch>(recorder, rate);
  if (word == "reference") return std::make_unique<ReferenceSteps>(recorder, rate);
  if (word == "mean_inputs") return std::make_unique<MeanInputs>(recorder, rate);
  if (word == "limited_data") return std::make_unique<LimitedData>(recorder);
  if (word == "trials") return std::make_unique<Trials>(recorder);
  if (word == "zero_lr") return std::make_unique<ZeroRate>(recorder);
  return nullptr;
}

}  // namespace dlcheck
