#include <limits>
#include <nlohmann/json.hpp>

#include "checks/engine/text.h"
#include "diagnostics/logs/log.h"
#include "diagnostics/logs/step_names.h"

namespace dlcheck {
namespace {

using Value = nlohmann::json;

constexpr int kDeepest = 8;          // object in an object
constexpr size_t kLongestArray = 8;  // of numbers, as one for each parameter group

// Python and others write NaN and Infinity, which JSON has no words for.
std::string WithoutNaN(const std::string& line) {
  std::string text;
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"-Infinity", "\"-inf\""}, {"Infinity", "\"inf\""}, {"NaN", "\"nan\""}};
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && (i == 0 || line[i - 1] != '\\')) quoted = !quoted;
    bool replaced = false;
    for (const auto& [word, other] : kWords) {
      if (quoted || replaced || line.compare(i, word.size(), word) != 0) continue;
      text += other;
      i += word.size() - 1;
      replaced = true;
    }
    if (!replaced) text += line[i];
  }
  return text;
}

bool NumberIn(const Value& json, double& number) {
  if (json.is_number()) {
    number = json.get<double>();
    return true;
  }
  if (!json.is_string()) return false;
  const auto& text = json.get_ref<const std::string&>();
  const double infinite = std::numeric_limits<double>::infinity();
  if (text == "nan") number = std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") number = infinite;
  if (text == "-inf") number = -infinite;
  return text == "nan" || text == "inf" || text == "-inf";
}

using Numbers = std::vector<std::pair<std::string, double>>;

// {"train": {"loss": 1}, "rates": [2]} gives "train/loss" and "rates/0".
void Flatten(const Value& json, const std::string& name, int depth, Numbers& numbers) {
  double number = 0;
  if (NumberIn(json, number)) numbers.emplace_back(name, number);
  if (json.is_array() && json.size() <= kLongestArray) {
    for (size_t i = 0; i < json.size(); ++i) {
      if (NumberIn(json[i], number)) numbers.emplace_back(StrCat(name, "/", i), number);
    }
  }
  if (!json.is_object() || depth == kDeepest) return;
  for (const auto& [key, value] : json.items()) {
    Flatten(value, name.empty() ? key : StrCat(name, "/", key), depth + 1, numbers);
  }
}

// Without a number of steps, the entries count.
void AddEntry(const Value& entry, int64_t count, Log& log) {
  Numbers numbers;
  Flatten(entry, "", 0, numbers);
  std::vector<std::string> names;
  for (const auto& [name, value] : numbers) names.push_back(name);
  const size_t place = StepNameIn(names);
  const std::optional<int64_t> step =
      place < numbers.size() ? StepOf(numbers[place].second) : std::optional(count);
  if (!step.has_value()) {
    AddFlaw(StrCat("entry ", count, " names no step, but ", numbers[place].second), log);
    return;
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i != place) log.rows.push_back({*step, numbers[i].first, numbers[i].second});
  }
}

}  // namespace

absl::StatusOr<Log> ReadJsonLinesLog(const std::string& text) {
  Log log{.kind = "JSON lines"};
  int64_t entries = 0;
  size_t number = 1;
  for (size_t at = 0; at < text.size(); ++number) {
    const size_t end = std::min(text.size(), text.find('\n', at));
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Value entry = Value::parse(WithoutNaN(line), nullptr, false);
    if (entry.is_object()) {
      AddEntry(entry, entries++, log);
    } else {
      AddFlaw(StrCat("line ", number, end == text.size() ? " is cut off" : " is no JSON object"),
              log);
    }
  }
  if (log.rows.empty()) return absl::InvalidArgumentError("its lines hold no numbers");
  return log;
}

absl::StatusOr<Log> ReadTrainerState(const std::string& text) {
  const Value state = Value::parse(WithoutNaN(text), nullptr, false);
  if (!state.is_object() || !state.contains("log_history") || !state["log_history"].is_array()) {
    return absl::InvalidArgumentError("it is no trainer_state.json, or is cut off");
  }
  Log log{.kind = "trainer_state.json of transformers"};
  int64_t entries = 0;
  for (const Value& entry : state["log_history"]) {
    if (entry.is_object()) AddEntry(entry, entries++, log);
  }
  if (log.rows.empty()) return absl::InvalidArgumentError("its log_history is empty");
  return log;
}

}  // namespace dlcheck
