#include "diagnostics/cli/config/configuration.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "diagnostics/cli/config/configuration_keys.h"

namespace dlcheck::cli {
namespace {

constexpr const char* kFileName = "dlcheck.toml";
constexpr const char* kPrefix = "DLCHECK_";
constexpr uintmax_t kMostBytes = 1 << 20;  // of a file; a mebibyte takes half a second

// True for keys that a variable without a section may set. Others that begin like ours are not
// ours to judge: DLCHECK_REQUEST, DLCHECK_PYTHON.
bool IsTopKey(const std::string& key) {
  const auto is = [&](const char* name) { return key == name; };
  return std::ranges::any_of(kListKeys, is) || std::ranges::any_of(kTextKeys, is) || is(kTimeKey);
}

// A variable's text in the type that a file would give to it.
void Insert(toml::table& table, const std::string& key, const std::string& text, bool numeric) {
  double number = 0;
  if (numeric && absl::SimpleAtod(text, &number)) {
    table.insert(key, number);
    return;
  }
  if (std::ranges::find(kListKeys, key) == std::end(kListKeys)) {
    table.insert(key, text);
    return;
  }
  toml::array list;
  for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    list.push_back(std::string(absl::StripAsciiWhitespace(part)));
  }
  table.insert(key, list);
}

// One variable as a table of the shape that a file would have; empty if it is not ours.
toml::table AsTable(const std::string& name, const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(name, "__");
  toml::table table;
  if (parts.size() == 1) {
    if (IsTopKey(name)) Insert(table, name, text, name == kTimeKey);
  } else if (parts.size() == 4 && parts[0] == "settings") {
    toml::table setting, checks;
    Insert(setting, parts[3], text, true);
    checks.insert(StrCat(parts[1], "/", parts[2]), setting);
    table.insert(parts[0], checks);
  } else {
    toml::table section;
    Insert(section, name.substr(parts[0].size() + 2), text, parts[0] == "budget");
    table.insert(parts[0], section);
  }
  return table;
}

absl::Status TakeTable(const Origin& origin, const toml::table& table,
                       Configuration& configuration) {
  for (const auto& [key, node] : table) {
    DLCHECK_RETURN_IF_ERROR(TakeKey(origin, std::string(key.str()), node, configuration));
  }
  return absl::OkStatus();
}

absl::StatusOr<Configuration> NearestFile() {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::current_path(error);
  // A file that is not there is an error to the standard library, and none here.
  while (!folder.empty()) {
    const std::filesystem::path file = folder / kFileName;
    if (std::filesystem::is_regular_file(file, error)) return ReadConfiguration(file.string());
    if (folder == folder.root_path()) break;
    folder = folder.parent_path();
  }
  return Configuration();
}

}  // namespace

absl::StatusOr<Configuration> ReadConfiguration(const std::string& path) {
  std::error_code unknown;
  const uintmax_t bytes = std::filesystem::file_size(path, unknown);
  if (!unknown && bytes > kMostBytes) {
    return absl::InvalidArgumentError(StrCat(path, ": is larger than 1 MiB"));
  }
  toml::table table;
  try {
    table = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    return absl::InvalidArgumentError(
        StrCat(path, ":", error.source().begin.line, ": ", std::string(error.description())));
  }
  Configuration configuration;
  DLCHECK_RETURN_IF_ERROR(TakeTable({path, true}, table, configuration));
  // Beside the file that names it, wherever the program is started from.
  if (configuration.baseline) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    configuration.baseline = (folder / *configuration.baseline).string();
  }
  return configuration;
}

absl::Status TakeEnvironment(const char* const* environment, Configuration& configuration) {
  for (; *environment != nullptr; ++environment) {
    const std::string entry = *environment;
    const size_t equals = entry.find('=');
    if (!entry.starts_with(kPrefix) || equals == std::string::npos) continue;
    const std::string name = entry.substr(0, equals);
    const std::string key = absl::AsciiStrToLower(name.substr(std::string(kPrefix).size()));
    DLCHECK_RETURN_IF_ERROR(
        TakeTable({name, false}, AsTable(key, entry.substr(equals + 1)), configuration));
  }
  return absl::OkStatus();
}

absl::StatusOr<Configuration> FindConfiguration() {
  DLCHECK_ASSIGN_OR_RETURN(Configuration configuration, NearestFile());
  DLCHECK_RETURN_IF_ERROR(TakeEnvironment(environ, configuration));
  return configuration;
}

}  // namespace dlcheck::cli
