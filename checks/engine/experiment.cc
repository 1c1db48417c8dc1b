#include "checks/engine/experiment.h"

#include <utility>

#include "checks/engine/text.h"

namespace dlcheck {
namespace {

constexpr std::pair<Experiment::Name, std::string_view> kNames[] = {
    {Experiment::Name::kPlain, "plain"},
    {Experiment::Name::kSameSeed, "same_seed"},
    {Experiment::Name::kOneBatch, "one_batch"},
    {Experiment::Name::kReference, "reference"},
    {Experiment::Name::kMeanInputs, "mean_inputs"},
    {Experiment::Name::kResumed, "resumed"},
    {Experiment::Name::kTrials, "trials"},
    {Experiment::Name::kInterrupted, "interrupted"},
    {Experiment::Name::kShuffledLabels, "shuffled_labels"},
    {Experiment::Name::kLimitedData, "limited_data"},
    {Experiment::Name::kMultiProcess, "multi_process"},
    {Experiment::Name::kSingleProcess, "single_process"},
    {Experiment::Name::kFixedBatch, "fixed_batch"},
    {Experiment::Name::kZeroLr, "zero_lr"},
    {Experiment::Name::kReplay, "replay"},
};

}  // namespace

std::string_view ExperimentName(Experiment::Name name) {
  for (const auto& [value, word] : kNames) {
    if (value == name) return word;
  }
  return "";
}

std::optional<Experiment::Name> ExperimentNamed(std::string_view name) {
  for (const auto& [value, word] : kNames) {
    if (word == name) return value;
  }
  return std::nullopt;
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
