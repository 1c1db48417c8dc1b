// Terms of a loss, tested on copies: the share that each has of the gradient and of the loss.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct LossTerms {
  static constexpr std::string_view kName = "loss terms";
  struct Moment {
    int64_t step;
    double of_gradient;  // its share, where it has a gradient
    double of_loss;      // the share of its value
    double value;        // without the factor
    double factor;       // the constant before it, of the largest among the terms
  };
  struct Term {
    std::string name;
    NamedSite site;  // where it is computed, or the backward; line 0 if unknown
    std::vector<Moment> moments;

    bool HasOneFactor() const;
    // How far the value moves between moments, of its size.
    double Variation() const;
  };
  std::vector<Term> terms;  // of those losses that are sums
  std::string untried;      // why another could not be tried; empty without one

  // Errors: NotFound if no backward was looked at.
  static absl::StatusOr<LossTerms> From(const Run& run);
};

}  // namespace dlcheck
