// dlcheck.toml: the nearest one, from the working folder upwards, without merging; and over it
// environment variables: DLCHECK_KEY for a key outside sections, DLCHECK_SECTION__KEY for another,
// DLCHECK_SETTINGS__AREA__NAME__SETTING for a setting of a check.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/runner.h"
#include "diagnostics/cli/config/intent.h"
#include "diagnostics/set_aside.h"

namespace dlcheck::cli {

struct Configuration {
  std::vector<std::string> select, ignore, required;
  std::optional<std::string> fail_on, output_dir, baseline;
  std::optional<double> deep_timeout;  // seconds
  // From [settings."area/name"] and [budget]; names are not looked up here.
  ChangedSettings settings;
  Declarations declared;                  // from [declare]
  std::vector<Suppression> suppressions;  // from [[suppress]]; checks are not looked up here
};

// Errors: InvalidArgument with file and line, and the nearest key for one that is unknown.
absl::StatusOr<Configuration> ReadConfiguration(const std::string& path);

// Puts the environment's words over those of `configuration`. Errors: InvalidArgument with the
// variable's name.
absl::Status TakeEnvironment(const char* const* environment, Configuration& configuration);

// Of the nearest file, or the defaults if there is none, with this process's environment.
absl::StatusOr<Configuration> FindConfiguration();

}  // namespace dlcheck::cli
