// Loss functions that are terms of what training minimizes: their means, and what a constant output
// comes to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct MeanLosses {
  static constexpr std::string_view kName = "mean losses";
  struct Point {
    int64_t step;
    double loss;  // mean over its targets
  };
  struct Function {
    std::string name;
    std::vector<Point> points;         // by step
    double constant = 0, samples = 0;  // the loss of the best constant output, on so many samples
    double classes = 0;                // 0 for regression
    double targets = 0;                // of the first call

    // The points of the last quarter, and their median.
    size_t late_begin() const { return points.size() * 3 / 4; }
    double LateMedian() const;
    bool is_contrastive() const { return classes > 1 && classes == targets; }
    // Whether backward starts from the mean of this function all the same, by its first value.
    bool IsWhole(double first_loss) const;
  };
  std::vector<Function> functions;

  // Errors: NotFound if no loss function was seen beside other terms.
  static absl::StatusOr<MeanLosses> From(const Run& run);
};

}  // namespace dlcheck
