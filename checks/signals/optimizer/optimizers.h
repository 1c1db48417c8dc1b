// Facts about each optimizer that stepped, besides its steps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Optimizers {
  static constexpr std::string_view kName = "optimizers";
  struct Optimizer {
    std::string name;         // "optimizer#0"
    std::string type;         // of its class; empty if not known
    std::string rate_beside;  // a rate set where nothing reads it; empty if none
    std::string rate_place;   // where that is: "optimizer#0.lr"
    // Its class is one of torch.optim: its rates, state and updates are its own.
    bool is_plain() const;
    // Its updates are the rate times what does not grow with the gradient.
    bool is_adaptive() const;
  };
  std::map<int, Optimizer> optimizers;  // by ordinal

  bool IsPlain(int ordinal) const;

  // Errors: NotFound if no optimizer step was observed.
  static absl::StatusOr<Optimizers> From(const Run& run);
};

}  // namespace dlcheck
