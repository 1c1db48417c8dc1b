// Evaluations on another DataLoader than that of training, after one full pass over the training
// data: how many of their rows occur in the training data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct DataOverlap {
  static constexpr std::string_view kName = "overlap of data";
  struct Evaluation {
    int64_t step = 0;
    std::string loader;
    double trained = 0, different = 0;  // rows
    double repeated = 0, rows = 0;      // rows equal to another of them, of all
  };
  std::vector<Evaluation> evaluations;
  double training_samples = 0;
  double left_out = 0;  // of them, by the first iteration, which may drop too few for a batch

  // Which rows a model has seen is known only if it is the only one, made once, and fed by one
  // loader. Errors: NotFound if no batch or evaluation was observed; FailedPrecondition if it is
  // not known whose rows are known.
  static absl::StatusOr<DataOverlap> From(const Run& run);
};

}  // namespace dlcheck
