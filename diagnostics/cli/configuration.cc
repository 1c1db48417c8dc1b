#include "diagnostics/cli/configuration.h"

#include <toml++/toml.h>
#include <filesystem>

#include "checks/catalog/catalog.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/records/nearest.h"

namespace dlcheck::cli {
namespace {

constexpr const char* kFileName = "dlcheck.toml";
const std::vector<std::string>& Keys() {
  static const auto& keys = *new std::vector<std::string>{"select", "ignore", "require", "fail_on",
                                                          "out",    "time",   "settings"};
  return keys;
}

// One line that says where in the file.
absl::Status Wrong(const std::string& path, const toml::node& node, const std::string& what) {
  return absl::InvalidArgumentError(StrCat(path, ":", node.source().begin.line, ": ", what));
}

absl::StatusOr<std::vector<std::string>> Strings(const std::string& path, const toml::node& node,
                                                 const std::string& key) {
  std::vector<std::string> strings;
  const toml::array* array = node.as_array();
  if (array == nullptr) return Wrong(path, node, StrCat(key, " must be a list of strings"));
  for (const toml::node& element : *array) {
    const auto text = element.value_exact<std::string>();
    if (!text) return Wrong(path, element, StrCat(key, " must be a list of strings"));
    strings.push_back(*text);
  }
  return strings;
}

absl::Status TakeSettings(const std::string& path, const toml::node& node,
                          ChangedSettings& settings) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return Wrong(path, node, "settings must be tables, one a check");
  for (const auto& [id, values] : *table) {
    if (!values.is_table()) return Wrong(path, values, "settings must be tables, one a check");
    for (const auto& [name, value] : *values.as_table()) {
      const auto number = value.value<double>();
      if (!number) return Wrong(path, value, StrCat(std::string(name.str()), " must be a number"));
      settings[std::string(id.str())][std::string(name.str())] = *number;
    }
  }
  return absl::OkStatus();
}

absl::Status TakeKey(const std::string& path, const std::string& key, const toml::node& node,
                     Configuration& configuration) {
  const auto text = node.value_exact<std::string>();
  if (key == "select" || key == "ignore" || key == "require") {
    DLCHECK_ASSIGN_OR_RETURN(auto strings, Strings(path, node, key));
    auto& list = key == "select"   ? configuration.select
                 : key == "ignore" ? configuration.ignore
                                   : configuration.required;
    list = std::move(strings);
    return absl::OkStatus();
  }
  if (key == "settings") return TakeSettings(path, node, configuration.settings);
  if (key == "time") {
    configuration.time = node.value<double>();
    if (!configuration.time || !(*configuration.time > 0)) {
      return Wrong(path, node, "time must be a positive number of seconds");
    }
    return absl::OkStatus();
  }
  if (key == "fail_on" || key == "out") {
    if (!text) return Wrong(path, node, StrCat(key, " must be a string"));
    (key == "out" ? configuration.out : configuration.fail_on) = *text;
    return absl::OkStatus();
  }
  return Wrong(path, node, StrCat("unknown key '", key, "'", DidYouMean(key, Keys())));
}

}  // namespace

absl::StatusOr<Configuration> ReadConfiguration(const std::string& path) {
  toml::table table;
  try {
    table = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    return absl::InvalidArgumentError(
        StrCat(path, ":", error.source().begin.line, ": ", std::string(error.description())));
  }
  Configuration configuration;
  for (const auto& [key, node] : table) {
    DLCHECK_RETURN_IF_ERROR(TakeKey(path, std::string(key.str()), node, configuration));
  }
  return configuration;
}

absl::StatusOr<Configuration> FindConfiguration() {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::current_path(error);
  while (!error && !folder.empty()) {
    const std::filesystem::path file = folder / kFileName;
    if (std::filesystem::is_regular_file(file, error)) return ReadConfiguration(file.string());
    if (folder == folder.root_path()) break;
    folder = folder.parent_path();
  }
  return Configuration();
}

}  // namespace dlcheck::cli
