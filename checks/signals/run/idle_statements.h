// Statements of the program's own source that do nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct IdleStatements {
  static constexpr std::string_view kName = "statements without effect";
  struct Statement {
    std::string words;  // "optimizer.zero_grad"
    NamedSite site;
  };
  std::vector<Statement> not_called;  // methods that are named only
  std::vector<Statement> not_taken;   // results of methods that change nothing

  // Errors: NotFound if the program is not Python, or recorded no step.
  static absl::StatusOr<IdleStatements> From(const Run& run);
};

}  // namespace dlcheck
