// dlcheck.toml: the nearest one, from the working folder upwards, without merging.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/runner.h"

namespace dlcheck::cli {

struct Configuration {
  std::vector<std::string> select, ignore, required;
  std::optional<std::string> fail_on, out;
  std::optional<double> time;
  ChangedSettings settings;  // from [settings."area/name"]; names are not looked up here
};

// Errors: InvalidArgument with file and line, and the nearest key for one that is unknown.
absl::StatusOr<Configuration> ReadConfiguration(const std::string& path);

// Of the nearest file, or the defaults if there is none.
absl::StatusOr<Configuration> FindConfiguration();

}  // namespace dlcheck::cli
