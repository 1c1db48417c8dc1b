// The loss of each model in its evaluations, as the program computed it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct EvaluationLosses {
  static constexpr std::string_view kName = "evaluation losses";
  struct Point {
    int64_t step;
    double loss;  // mean over the samples
  };
  struct Model {
    std::string name;
    std::vector<Point> points;  // by step; of evaluations on equally many samples
  };
  std::vector<Model> models;

  // Of the first process. Of a model whose evaluations differ in size, those of the most frequent
  // size: the others may be of another data set.
  //
  // Errors: NotFound if no evaluation had a loss.
  static absl::StatusOr<EvaluationLosses> From(const Run& run);
};

}  // namespace dlcheck
