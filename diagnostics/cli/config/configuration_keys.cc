#include "diagnostics/cli/config/configuration_keys.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/records/nearest.h"

namespace dlcheck::cli {
namespace {

// One line that says where.
absl::Status Wrong(const Origin& origin, const toml::node& node, const std::string& what) {
  const std::string line = origin.has_lines ? StrCat(":", node.source().begin.line) : "";
  return absl::InvalidArgumentError(StrCat(origin.name, line, ": ", what));
}

absl::Status WrongIf(const Origin& origin, const toml::node& node, const absl::Status& status) {
  return status.ok() ? status : Wrong(origin, node, std::string(status.message()));
}

template <size_t N>
bool OneOf(const std::string& key, const char* const (&keys)[N]) {
  return std::ranges::find(keys, key) != std::end(keys);
}

absl::StatusOr<std::vector<std::string>> Strings(const Origin& origin, const toml::node& node,
                                                 const std::string& key) {
  std::vector<std::string> strings;
  const toml::array* array = node.as_array();
  if (array == nullptr) return Wrong(origin, node, StrCat(key, " must be a list of strings"));
  for (const toml::node& element : *array) {
    const auto text = element.value_exact<std::string>();
    if (!text) return Wrong(origin, element, StrCat(key, " must be a list of strings"));
    strings.push_back(*text);
  }
  return strings;
}

absl::Status TakeSettings(const Origin& origin, const toml::node& node, Configuration& into) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return Wrong(origin, node, "settings must be tables, one a check");
  for (const auto& [id, values] : *table) {
    if (!values.is_table()) return Wrong(origin, values, "settings must be tables, one a check");
    for (const auto& [name, value] : *values.as_table()) {
      const auto number = value.value<double>();
      if (!number)
        return Wrong(origin, value, StrCat(std::string(name.str()), " must be a number"));
      into.settings[std::string(id.str())][std::string(name.str())] = *number;
    }
  }
  return absl::OkStatus();
}

absl::Status TakeDeclarations(const Origin& origin, const toml::node& node, Configuration& into) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return Wrong(origin, node, "declare must be a table");
  for (const auto& [key, value] : *table) {
    const auto flag = value.value_exact<bool>();
    const auto text = value.value_exact<std::string>();
    if (!flag && !text) {
      return Wrong(origin, value, StrCat(std::string(key.str()), " must be a string or a boolean"));
    }
    const std::string word = flag ? (*flag ? "true" : "false") : *text;
    DLCHECK_RETURN_IF_ERROR(
        WrongIf(origin, value, Declare(std::string(key.str()), word, into.declared)));
  }
  return absl::OkStatus();
}

// A number of bytes, or "2 GiB".
std::optional<double> Bytes(const toml::node& node) {
  if (const auto number = node.value<double>()) return number;
  static constexpr std::pair<const char*, double> kUnits[] = {
      {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"kB", 1e3},
      {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},    {"B", 1}};
  const std::string text = node.value_or(std::string());
  for (const auto& [unit, size] : kUnits) {
    absl::string_view amount = text;
    double number = 0;
    if (absl::ConsumeSuffix(&amount, unit) && absl::SimpleAtod(amount, &number)) {
      return number * size;
    }
  }
  return std::nullopt;
}

absl::Status TakeBudget(const Origin& origin, const toml::node& node, Configuration& into) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return Wrong(origin, node, "budget must be a table");
  for (const auto& [name, value] : *table) {
    const std::string key(name.str());
    if (key != "memory" && key != "step_time" && key != "host_device_sync") {
      return Wrong(origin, value,
                   StrCat("unknown key '", key, "' in budget",
                          DidYouMean(key, {"memory", "step_time", "host_device_sync"})));
    }
    const bool memory = key == "memory";
    const std::optional<double> limit = memory ? Bytes(value) : value.value<double>();
    if (!limit || !(*limit > 0)) {
      return Wrong(origin, value,
                   memory ? "memory must be bytes, as in 2147483648 or \"2 GiB\""
                          : StrCat(key, " must be a positive number of ",
                                   key == "step_time" ? "seconds" : "reads a step"));
    }
    into.settings[StrCat("performance/", key)]["limit"] = *limit;
  }
  return absl::OkStatus();
}

absl::Status TakeSuppression(const Origin& origin, const toml::node& node, Configuration& into) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return Wrong(origin, node, "suppress must be a list of tables");
  Suppression suppression;
  for (const auto& [name, value] : *table) {
    const std::string key(name.str());
    const auto text = value.value_exact<std::string>();
    const auto date = value.value_exact<toml::date>();
    if (key == "expires" && date) {
      suppression.expires = absl::CivilDay(date->year, date->month, date->day);
    } else if (key == "expires") {
      return Wrong(origin, value, "expires must be a date, as in 2027-01-31");
    } else if (key != "check" && key != "place" && key != "reason") {
      return Wrong(origin, value,
                   StrCat("unknown key '", key, "' in suppress",
                          DidYouMean(key, {"check", "place", "reason", "expires"})));
    } else if (!text) {
      return Wrong(origin, value, StrCat(key, " must be a string"));
    } else {
      (key == "check"   ? suppression.check
       : key == "place" ? suppression.place
                        : suppression.reason) = *text;
    }
  }
  if (suppression.check.empty()) return Wrong(origin, node, "a suppression needs a check");
  if (suppression.reason.empty()) return Wrong(origin, node, "a suppression needs a reason");
  into.suppressions.push_back(std::move(suppression));
  return absl::OkStatus();
}

absl::Status TakeSuppressions(const Origin& origin, const toml::node& node, Configuration& into) {
  const toml::array* array = node.as_array();
  if (array == nullptr) return Wrong(origin, node, "suppressions are written as [[suppress]]");
  for (const toml::node& element : *array) {
    DLCHECK_RETURN_IF_ERROR(TakeSuppression(origin, element, into));
  }
  return absl::OkStatus();
}

using Take = absl::Status (*)(const Origin&, const toml::node&, Configuration&);
constexpr std::pair<const char*, Take> kSections[] = {{"budget", TakeBudget},
                                                      {"declare", TakeDeclarations},
                                                      {"settings", TakeSettings},
                                                      {"suppress", TakeSuppressions}};

absl::Status Unknown(const Origin& origin, const std::string& key, const toml::node& node) {
  std::vector<std::string> keys(std::begin(kListKeys), std::end(kListKeys));
  keys.insert(keys.end(), std::begin(kTextKeys), std::end(kTextKeys));
  keys.emplace_back(kTimeKey);
  for (const auto& [name, take] : kSections) keys.emplace_back(name);
  return Wrong(origin, node, StrCat("unknown key '", key, "'", DidYouMean(key, keys)));
}

}  // namespace

absl::Status TakeKey(const Origin& origin, const std::string& key, const toml::node& node,
                     Configuration& configuration) {
  for (const auto& [name, take] : kSections) {
    if (key == name) return take(origin, node, configuration);
  }
  if (OneOf(key, kListKeys)) {
    DLCHECK_ASSIGN_OR_RETURN(auto strings, Strings(origin, node, key));
    (key == "select"   ? configuration.select
     : key == "ignore" ? configuration.ignore
                       : configuration.required) = std::move(strings);
    return absl::OkStatus();
  }
  if (key == kTimeKey) {
    configuration.deep_timeout = node.value<double>();
    if (configuration.deep_timeout && *configuration.deep_timeout > 0) return absl::OkStatus();
    return Wrong(origin, node, "deep_timeout must be a positive number of seconds");
  }
  if (!OneOf(key, kTextKeys)) return Unknown(origin, key, node);
  const auto text = node.value_exact<std::string>();
  if (!text) return Wrong(origin, node, StrCat(key, " must be a string"));
  (key == "output_dir" ? configuration.output_dir
   : key == "fail_on"  ? configuration.fail_on
                       : configuration.baseline) = *text;
  return absl::OkStatus();
}

}  // namespace dlcheck::cli
