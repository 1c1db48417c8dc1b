// All checks, made from catalog.def, and how to choose among them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/check.h"

namespace dlcheck {

// In order of their ids; lives as long as the program.
std::span<const Check> Catalog();

// Null if there is no such check.
const Check* FindCheck(std::string_view id);

// The checks that match any of `select` (all, if it is empty) and none of `ignore`. A pattern is an
// id, an area, or either with `*` and `?`. Errors: InvalidArgument for a pattern that matches no
// check, with the nearest id.
absl::StatusOr<std::vector<const Check*>> SelectChecks(const std::vector<std::string>& select,
                                                       const std::vector<std::string>& ignore);

}  // namespace dlcheck
