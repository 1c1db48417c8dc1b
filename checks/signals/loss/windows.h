// Accumulation windows: the weight of each micro-batch's mean loss in its step, and the divisor
// that explains these weights.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Windows {
  static constexpr std::string_view kName = "windows of micro-batches";
  struct MicroBatch {
    double share = 0;  // of the mean loss over its own targets
    double targets = 0;
    double samples = 0;  // first dimension of what a model was given; 0 if there were several
  };
  struct Window {
    int64_t step = 0;
    std::vector<MicroBatch> micro;
    bool cleared_inside = false;  // between its first and its last backward call

    double Targets() const;
    double Share() const;  // of all micro-batches together; 1 makes a mean
    // The largest |k n_i / N - 1|: how far from their share of the targets equal weights are.
    double Unevenness() const;
  };
  std::vector<Window> windows;  // of sampled steps, ascending
  size_t full = 0;              // micro-batches of the largest in which nothing is zeroed
  std::string declared;         // the program's own word on accumulation
  bool interleaved = false;     // optimizers step in turns
  bool has_distance = false;    // a loss is a squared or absolute error, of which half may be meant

  // Where one optimizer comes after the other, those of the one that steps most often in sampled
  // steps. Skips accumulation windows whose losses are too near zero for their shares to be exact,
  // whose backward calls start from different losses or stand in different lines, as those of
  // several terms do, and those of LBFGS. Errors: NotFound if no step, or no loss with its outputs
  // and targets, was seen.
  static absl::StatusOr<Windows> From(const Run& run);
};

// What explains the shares of a window of k micro-batches with n_i of N targets each, where a full
// window has K.
enum class Division : uint8_t {
  kOther,           // nothing below
  kByTargets,       // n_i / N: the mean over all targets
  kByMicroBatches,  // 1 / k although the n_i differ: the mean of means
  kUndivided,       // 1, k > 1
  kTwice,           // n_i / (N k) or 1 / k^2, k > 1
  kAsIfFull,        // 1 / K or n_i / (n_0 K), k < K
};

// The numbers that every loss was divided by once more, being means already: of each micro-batch
// its targets, or its samples. Empty where neither explains the shares. Tolerance as below.
std::vector<double> DividedAgainBy(const Windows::Window& window, double tolerance);

// Each share may differ by `tolerance` relative to what it would have to be.
Division DivisionOf(const Windows::Window& window, size_t full, double tolerance);

}  // namespace dlcheck
