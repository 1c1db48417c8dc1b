// Baseline models of a program, each trained on exactly its batches, in their order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reference/baseline/capture.h"
#include "reference/baseline/comparison.h"
#include "reference/recipe/recipe.h"

namespace dlcheck::reference {

struct BaselineModel {
  std::string name;
  Recipe recipe;              // all but the rate and the seed
  std::vector<double> rates;  // that are tried; chosen by the loss of a tenth of the steps
};

// What fits the task, the plainest first: of numbers `linear` and `mlp`, of images `resnet`, too,
// of tokens `lstm` and `gpt`. Their recipes were chosen beforehand, on the data sets that come with
// dlcheck, and depend on nothing but the kind of task.
std::vector<BaselineModel> BaselineModels(const Capture& capture);

struct Trained {
  std::string name;
  double rate = 0;
  double milliseconds = 0;                  // of a step, the median over seeds
  std::vector<std::vector<double>> losses;  // by seed and step
};

// Three seeds of each rate for a tenth of the steps, then three seeds of the best rate. `tell` gets
// a line for whoever waits. Cost: about four times the steps of the program, for each baseline.
Trained Train(const BaselineModel& model, const Capture& capture,
              const std::function<void(const std::string&)>& tell);

// The same baseline under the program's own optimizer and rates, with three seeds; nothing if the
// trainer does not have that optimizer, or a rate is not known.
std::optional<BaselineLosses> TrainLike(const BaselineModel& model, const Capture& capture);

// The loss of the best constant prediction: the share of each class in the whole capture, or of
// numbers their mean.
double LossOfConstant(const Capture& capture);

}  // namespace dlcheck::reference
