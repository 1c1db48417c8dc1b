// What the probe states of a program in one quantity: each thing that it says it of, and where.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Statement {
  std::string name;           // of the thing: "relu", "head.weight"
  double value = 0, aux = 0;  // of the last time
  int64_t first_step = 0, last_step = 0;
  int64_t count = 0;  // how often it was stated
  NamedSite site;     // line 0 if not known
};

struct Statements {
  std::vector<Statement> all;
  int64_t steps = 0;  // of all optimizers, that were seen or counted
};

// Of the first process only. Errors: NotFound if its probe does not look for this, or nothing is
// stated and no optimizer step was called.
absl::StatusOr<Statements> StatementsIn(const Run& run, Quantity quantity);

template <Quantity kQuantity>
struct Stated : Statements {
  static constexpr std::string_view kName = "statements of the probe";
  static absl::StatusOr<Stated> From(const Run& run) {
    absl::StatusOr<Statements> found = StatementsIn(run, kQuantity);
    if (!found.ok()) return found.status();
    return Stated{*std::move(found)};
  }
};

}  // namespace dlcheck
