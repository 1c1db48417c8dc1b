// What `dlcheck reference` found: the losses of a program beside those of plain models on the same
// batches.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace dlcheck {

struct BaselineResult {
  struct BaselineModel {
    std::string name;
    double rate = 0;
    double milliseconds = 0;                  // of a step
    std::vector<double> late_losses;          // by seed, ascending
    std::vector<std::vector<double>> losses;  // by seed and step; NaN where one is not finite
  };
  double constant = 0;         // the loss of the best constant prediction
  std::vector<double> losses;  // of the program, by step; empty without a program
  double milliseconds = 0;     // of a step of the program; NaN if it is not known
  std::vector<BaselineModel> baselines;
  std::string severity;  // passed, note, warning or error
  std::string text;      // the verdict, a sentence
  std::string weak;      // which half is weak, a sentence; may be empty
};

// Of reference.json. Errors: InvalidArgument if the text is none.
absl::StatusOr<BaselineResult> ParseBaseline(const std::string& text);

// One page without a script. `source` is the folder of a run, or a data file.
std::string RenderBaselineHtml(const BaselineResult& result, const std::string& source);

}  // namespace dlcheck
