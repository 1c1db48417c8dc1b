// Statements of the program that do nothing: of its source in Python, or of its operations in C++.
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
  bool of_source = false;             // the source was read
  std::vector<Statement> not_called;  // methods that are named only
  std::vector<Statement> not_taken;   // results of methods that change nothing

  // Errors: NotFound if the program is not Python, and nothing is known of it.
  static absl::StatusOr<IdleStatements> From(const Run& run);
};

}  // namespace dlcheck
