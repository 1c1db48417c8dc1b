// The file that holds which findings a user accepts as they are: JSON, a fingerprint a finding, and
// beside it what a person needs to read the diff.
#pragma once

#include <set>
#include <string>

#include "absl/status/statusor.h"

namespace dlcheck::cli {

// The findings of a result.json that are open or were accepted, as a baseline. The same result
// gives the same bytes. Errors: InvalidArgument if it is no result of dlcheck.
absl::StatusOr<std::string> BaselineOf(const std::string& result_json);

// The fingerprints in a baseline file. Errors: InvalidArgument with the file.
absl::StatusOr<std::set<std::string>> ReadBaseline(const std::string& path);

}  // namespace dlcheck::cli
