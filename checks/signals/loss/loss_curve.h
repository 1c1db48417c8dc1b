// The training loss, step by step. Several checks start from it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct LossCurve {
  static constexpr std::string_view kName = "loss curve";
  struct Point {
    int64_t step;
    double loss;  // mean over the backward calls of the step, without a scaler's scale
  };
  std::vector<Point> points;  // by step
  std::string kind;           // cross_entropy, nll, mse, ...; empty if the probe could not tell
  double label_smoothing = 0;
  int64_t classes = 0;     // 0 if unknown
  double samples = 0;      // of the first loss; 0 if unknown
  double share = 1;        // of the mean loss that the first backward used; 1 if unknown
  bool loaded = false;     // state was loaded before the first step
  bool logged = false;     // read from the log of another tool, which names no kind
  int64_t optimizers = 0;  // that stepped
  size_t alone = 0;        // points before a second optimizer was seen to step
  // Why a healthy model may converge far above zero, or learn nothing of its inputs in a short
  // run; empty for one with a target a sample and nothing else in its loss.
  std::string doubt;

  // As many classes as samples: each sample is distinguished from the others of its batch
  // (contrastive losses, whose floor is not zero).
  bool is_contrastive() const { return classes > 1 && static_cast<double>(classes) == samples; }

  // Errors: NotFound if no backward call from a loss was observed.
  static absl::StatusOr<LossCurve> From(const Run& run);

  bool IsFinite() const;

  // Median of the last `count` losses, all of them if there are fewer.
  double LateMedian(size_t count) const;

  // Without what came after a second optimizer began to step.
  LossCurve OfTheFirstOptimizer() const;
};

}  // namespace dlcheck
