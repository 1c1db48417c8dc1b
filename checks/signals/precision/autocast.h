// What ran in low precision: products of the forward passes, and steps inside autocast.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Autocast {
  static constexpr std::string_view kName = "autocast";
  struct Products {
    int64_t step = 0;
    double low_share = 0;  // that took fp16 or bf16
    double count = 0;
  };
  std::vector<Products> products;     // of sampled steps that had any, by step
  std::vector<int64_t> steps_inside;  // sampled steps that began inside autocast, ascending
  int64_t steps = 0;                  // sampled
  std::string declared;               // the type that the program says it uses
  bool scales_losses = false;         // a loss scaler is at work

  // True if autocast is declared or something took low precision.
  bool IsUsed() const;

  // Errors: NotFound if no optimizer step was observed.
  static absl::StatusOr<Autocast> From(const Run& run);
};

}  // namespace dlcheck
