#include "reference/recipe/recipe.h"

#include <toml++/toml.h>

#include <cmath>
#include <cstdlib>

#include "checks/records/nearest.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

bool Any(double) { return true; }
bool IsRate(double number) { return std::isfinite(number) && number > 0; }
bool IsDecay(double number) { return std::isfinite(number) && number >= 0; }
bool IsFraction(double number) { return number >= 0 && number < 1; }
bool IsCount(double number) { return number >= 1 && number <= 1e9; }
bool IsSeed(double number) { return number >= 0; }
bool IsThreads(double number) { return number >= 1 && number <= 1024; }

constexpr char kCount[] = "an integer from 1 to 1000000000";

[[noreturn]] void Refuse(const Key& key, const std::string& shown) {
  throw UsageError(std::string(key.name) + " is " + shown + "; expected: " + key.expected);
}

// Numbers keep the spelling they came with, so that a message shows what was typed.
void AssignNumber(Recipe& recipe, const Key& key, double number, const std::string& shown) {
  if (!key.is_good(number)) Refuse(key, shown);
  if (const auto* real = std::get_if<double Recipe::*>(&key.member)) {
    recipe.*(*real) = number;
  } else {
    recipe.*(std::get<std::optional<double> Recipe::*>(key.member)) = number;
  }
}

void AssignInteger(Recipe& recipe, const Key& key, int64_t number, const std::string& shown) {
  if (!key.is_good(static_cast<double>(number))) Refuse(key, shown);
  recipe.*(std::get<int64_t Recipe::*>(key.member)) = number;
}

void AssignText(Recipe& recipe, const Key& key, const std::string& text) {
  if (std::string(key.name) == "optimizer" && text != "sgd" && text != "adam" && text != "adamw") {
    Refuse(key, "'" + text + "'");
  }
  if (std::string(key.name) == "model" && text != "mlp" && text != "cnn" && IsBuiltIn(text)) {
    Refuse(key, "'" + text + "'");
  }
  recipe.*(std::get<std::string Recipe::*>(key.member)) = text;
}

bool IsText(const Key& key) { return std::holds_alternative<std::string Recipe::*>(key.member); }
bool IsInteger(const Key& key) { return std::holds_alternative<int64_t Recipe::*>(key.member); }

void AssignNode(Recipe& recipe, const Key& key, const toml::node& node) {
  std::ostringstream spelled;
  spelled << toml::node_view<const toml::node>(node);
  const std::string shown = spelled.str();
  if (IsText(key)) {
    if (!node.is_string()) Refuse(key, shown);
    AssignText(recipe, key, node.as_string()->get());
  } else if (IsInteger(key)) {
    if (!node.is_integer()) Refuse(key, shown);
    AssignInteger(recipe, key, node.as_integer()->get(), shown);
  } else {
    const std::optional<double> number = node.is_number() ? node.value<double>() : std::nullopt;
    if (!number) Refuse(key, shown);
    AssignNumber(recipe, key, *number, shown);
  }
}

toml::table Parse(const std::string& path) {
  try {
    return toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    const auto line = error.source().begin.line;
    const std::string where = line > 0 ? "line " + std::to_string(line) + ": " : "";
    throw InputRejected(path, where + std::string(error.description()));
  }
}

}  // namespace

const std::vector<Key>& Keys() {
  static const std::vector<Key> keys = {
      {"data", &Recipe::data, "a path", Any, "fixture file (default: the digits)"},
      {"model", &Recipe::model, "mlp, cnn, or the path of a plugin", Any,
       "mlp, cnn or a plugin's path"},
      {"optimizer", &Recipe::optimizer, "sgd, adam or adamw", Any, "sgd, adam or adamw"},
      {"lr", &Recipe::lr, "a finite number above 0", IsRate,
       "learning rate (default: 0.05 for sgd, 0.002 for adam and adamw)"},
      {"momentum", &Recipe::momentum, "a number from 0 to below 1", IsFraction, "of sgd"},
      {"weight-decay", &Recipe::weight_decay, "a finite number, 0 or above", IsDecay,
       "of weights, not of biases"},
      {"batch-size", &Recipe::batch_size, kCount, IsCount, "samples a step"},
      {"steps", &Recipe::steps, kCount, IsCount, "optimizer steps"},
      {"evaluate-every", &Recipe::evaluate_every, kCount, IsCount, "steps between evaluations"},
      {"dropout", &Recipe::dropout, "a number from 0 to below 1", IsFraction, "of mlp and cnn"},
      {"seed", &Recipe::seed, "an integer, 0 or above", IsSeed, "of weights, order and dropout"},
      {"threads", &Recipe::threads, "an integer from 1 to 1024", IsThreads, "of LibTorch"},
      {"fault", &Recipe::fault, "a name out of --list-faults", Any, "plant a fault on purpose"},
      {"save", &Recipe::save, "a path", Any, "write weights and optimizer state at the end"},
  };
  return keys;
}

double LearningRate(const Recipe& recipe) {
  return recipe.lr.value_or(recipe.optimizer == "sgd" ? 0.05 : 0.002);
}

bool IsBuiltIn(const std::string& model) {
  const bool ends_in_so = model.size() > 3 && model.compare(model.size() - 3, 3, ".so") == 0;
  return !ends_in_so && model.find('/') == std::string::npos;
}

void Assign(Recipe& recipe, const Key& key, const std::string& text) {
  if (IsText(key)) return AssignText(recipe, key, text);
  char* end = nullptr;
  const std::string shown = "'" + text + "'";
  if (IsInteger(key)) {
    errno = 0;
    const long long number = std::strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || errno != 0) Refuse(key, shown);
    return AssignInteger(recipe, key, number, shown);
  }
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') Refuse(key, shown);
  AssignNumber(recipe, key, number, shown);
}

void AssignFile(Recipe& recipe, const std::string& path) {
  for (const auto& [name, node] : Parse(path)) {
    const std::string typed(name.str());
    const Key* found = nullptr;
    std::vector<std::string> known;
    for (const Key& key : Keys()) {
      if (typed == key.name) found = &key;
      known.emplace_back(key.name);
    }
    if (found == nullptr) {
      throw InputRejected(path, "unknown key '" + typed + "'" + DidYouMean(typed, known));
    }
    try {
      AssignNode(recipe, *found, node);
    } catch (const UsageError& error) {
      throw InputRejected(path, error.what());
    }
  }
}

}  // namespace dlcheck::reference
