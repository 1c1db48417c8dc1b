// The keys of a configuration, wherever they come from.
#pragma once

#include <toml++/toml.h>

#include <string>

#include "diagnostics/cli/config/configuration.h"

namespace dlcheck::cli {

// Where a value comes from: a file, with lines, or an environment variable, without.
struct Origin {
  std::string name;
  bool has_lines;
};

inline constexpr const char* kListKeys[] = {"select", "ignore", "require"};
inline constexpr const char* kTextKeys[] = {"fail_on", "output_dir", "baseline"};
inline constexpr const char* kTimeKey = "deep_timeout";

// Takes one key of the top level, a section being one. Errors: InvalidArgument, one line that
// begins with the origin.
absl::Status TakeKey(const Origin& origin, const std::string& key, const toml::node& node,
                     Configuration& configuration);

}  // namespace dlcheck::cli
