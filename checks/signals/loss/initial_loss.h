// The loss of the untrained model, the loss with permuted targets, and the loss of the best
// constant output: all on the same samples, before the first step.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct InitialLoss {
  static constexpr std::string_view kName = "initial loss";
  double initial = 0, independent = 0, constant = 0;
  double samples = 0;
  double classes = 0;  // 0 for regression
  double batch = 0;    // samples of the first training loss; 0 if unknown
  // Like `constant` and `samples`, with the targets of later steps where those of the first are
  // few.
  double pooled = 0, pooled_samples = 0;
  std::string kind;

  // Errors: NotFound if the probe saw no outputs with their targets; FailedPrecondition if weights
  // were loaded before the first step, because then nothing is untrained.
  static absl::StatusOr<InitialLoss> From(const Run& run);
};

// True if the program read state from a file before its first optimizer step.
bool LoadedBeforeStart(const Trace& trace);

}  // namespace dlcheck
