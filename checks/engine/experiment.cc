#include "checks/engine/experiment.h"

#include "checks/engine/text.h"

namespace dlcheck {
namespace {

// What an experiment is to the engine, a row each.
struct Row {
  Experiment::Name name;
  std::string_view word;
  const Experiment* follows = nullptr;  // the run that must come before it
};

constexpr Row kTable[] = {
    {Experiment::Name::kPlain, "plain"},
    {Experiment::Name::kSameSeed, "same_seed"},
    {Experiment::Name::kOneBatch, "one_batch"},
    {Experiment::Name::kReference, "reference"},
    {Experiment::Name::kMeanInputs, "mean_inputs"},
    {Experiment::Name::kResumed, "resumed", &kInterrupted},
    {Experiment::Name::kTrials, "trials"},
    {Experiment::Name::kInterrupted, "interrupted"},
    {Experiment::Name::kShuffledLabels, "shuffled_labels"},
    {Experiment::Name::kLimitedData, "limited_data"},
    {Experiment::Name::kMultiProcess, "multi_process"},
    {Experiment::Name::kSingleProcess, "single_process", &kMultiProcess},
    {Experiment::Name::kFixedBatch, "fixed_batch"},
    {Experiment::Name::kZeroLr, "zero_lr"},
    {Experiment::Name::kReplay, "replay"},
};

}  // namespace

std::string_view ExperimentName(Experiment::Name name) {
  for (const Row& row : kTable) {
    if (row.name == name) return row.word;
  }
  return "";
}

std::optional<Experiment::Name> ExperimentNamed(std::string_view name) {
  for (const Row& row : kTable) {
    if (row.word == name) return row.name;
  }
  return std::nullopt;
}

const Experiment* RunBefore(const Experiment& experiment) {
  for (const Row& row : kTable) {
    if (row.name == experiment.name) return row.follows;
  }
  return nullptr;
}

std::string Describe(const Experiment& experiment) {
  std::string text(ExperimentName(experiment.name));
  if (experiment.at_step > 0) StrAppend(&text, " after ", experiment.at_step, " steps");
  if (experiment.steps == 1) StrAppend(&text, ", 1 step");
  if (experiment.steps > 1) StrAppend(&text, ", ", experiment.steps, " steps");
  if (experiment.reference_rate > 0) {
    StrAppend(&text, ", Adam with learning rate ", experiment.reference_rate);
  }
  return text;
}

std::string FolderName(const Experiment& experiment) {
  return StrCat(ExperimentName(experiment.name), "-", experiment.repetition);
}

Request ToRequest(const Experiment& experiment) {
  Request request;
  request.experiment = std::string(ExperimentName(experiment.name));
  request.repetition = experiment.repetition;
  if (experiment.steps > 0) request.steps = experiment.steps;
  if (experiment.reference_rate > 0) request.reference_rate = experiment.reference_rate;
  if (experiment.at_step > 0) request.at_step = experiment.at_step;
  return request;
}

std::optional<Experiment> FromRequest(const Request& request) {
  const std::optional<Experiment::Name> name = ExperimentNamed(request.experiment);
  if (!name) return std::nullopt;
  return Experiment{.name = *name,
                    .repetition = request.repetition,
                    .steps = request.steps.value_or(0),
                    .reference_rate = request.reference_rate.value_or(0),
                    .at_step = request.at_step.value_or(0)};
}

}  // namespace dlcheck
