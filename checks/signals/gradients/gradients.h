// Each parameter: its optimizer, whether it was used, and its gradients and weights at the sampled
// steps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Gradients {
  static constexpr std::string_view kName = "gradients";
  static constexpr int64_t kEnd = 32;  // fewest steps that are the end of a run
  struct Parameter {
    std::string name;              // as reports show it
    std::string optimizer;         // "optimizer#0/group#0"; empty: in none
    std::string shape;             // "10x64"
    int model = 0;                 // ordinal
    bool part_of_trained = false;  // its model is a part of a module that an optimizer has
    double elements = 1;
    bool requires_grad = true;
    bool orphan = false;      // in an optimizer, but of no model that ran
    bool module_ran = false;  // its module ran in a training forward
    bool gradient_seen = false;
    bool first_to_run = false;    // of all optimized parameters of its model, in a training forward
    int64_t optimizer_steps = 0;  // sampled steps of its own optimizer
    int64_t last_gradient = -1;   // the last sampled step that consumed one
    int64_t last_nonzero = -1;    // the last that consumed one that is not zero
    int64_t steps_without = 0;    // sampled steps of its optimizer after `last_gradient`
    int64_t steps_of_zeros = 0;   // after `last_nonzero`
    int64_t last_step = -1;       // of its optimizer, that was sampled
    // Valid as long as the run. Norms as the step consumed them, and as held before the first
    // backward.
    std::span<const Sample> consumed, held, weight;

    // Whether it had no gradient, or at most zeros, in so many of the last sampled steps of its
    // optimizer. An accelerator may keep the norms of a few steps when the process dies.
    bool HasNoneAtTheEnd(double sampled_steps) const {
      return last_step - last_gradient >= kEnd &&
             static_cast<double>(steps_without) >= sampled_steps;
    }
    bool HasZerosAtTheEnd(double sampled_steps) const {
      return last_step - last_nonzero >= kEnd &&
             static_cast<double>(steps_of_zeros) >= sampled_steps;
    }
    bool is_matrix() const { return shape.find('x') != std::string::npos; }
  };
  std::vector<Parameter> parameters;
  std::vector<int64_t> steps;  // sampled optimizer steps, ascending
  bool backward_seen = false;

  // Errors: NotFound if no optimizer step was observed.
  static absl::StatusOr<Gradients> From(const Run& run);
};

// "6 of 8 parameters, 64 of 1,407 steps"
std::string JudgedParameters(int64_t judged, const Gradients& gradients);

}  // namespace dlcheck
