#include "reference/recipe/recipe.h"

#include <sys/stat.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <type_traits>

#include "checks/records/nearest.h"
#include "reference/recipe/built_in_models.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

[[noreturn]] void Refuse(const Key& key, const std::string& shown) {
  throw UsageError(std::string(key.name) + " is " + shown + "; expected: " + key.rule.expected);
}

template <typename Value>
bool Is(const Key& key) {
  return std::holds_alternative<Value Recipe::*>(key.member);
}

bool IsText(const Key& key) { return Is<Text>(key); }
bool IsInteger(const Key& key) { return Is<Integer>(key) || Is<OptionalInteger>(key); }

// Numbers keep the spelling they came with, so that a message shows what was typed.
void AssignNumber(Recipe& recipe, const Key& key, double number, const std::string& shown) {
  if (!key.rule.is_good_number(number)) Refuse(key, shown);
  if (Is<Real>(key)) {
    recipe.*std::get<Real Recipe::*>(key.member) = number;
  } else {
    recipe.*std::get<OptionalReal Recipe::*>(key.member) = number;
  }
}

void AssignInteger(Recipe& recipe, const Key& key, int64_t number, const std::string& shown) {
  if (!key.rule.is_good_number(static_cast<double>(number))) Refuse(key, shown);
  if (Is<Integer>(key)) {
    recipe.*std::get<Integer Recipe::*>(key.member) = number;
  } else {
    recipe.*std::get<OptionalInteger Recipe::*>(key.member) = number;
  }
}

void AssignText(Recipe& recipe, const Key& key, const std::string& text) {
  const std::vector<std::string>& choices = key.rule.choices;
  if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end()) {
    Refuse(key, "'" + text + "'");
  }
  const bool is_model = std::string(key.name) == "model";
  if (is_model && IsBuiltIn(text) && !IsNameOfModel(text)) {
    Refuse(key, "'" + text + "'");
  }
  recipe.*std::get<Text Recipe::*>(key.member) = text;
}

void AssignSwitch(Recipe& recipe, const Key& key, const std::string& text) {
  if (text != "true" && text != "false") Refuse(key, "'" + text + "'");
  recipe.*std::get<Switch Recipe::*>(key.member) = text == "true";
}

void AssignNode(Recipe& recipe, const Key& key, const toml::node& node) {
  std::ostringstream spelled;
  spelled << toml::node_view<const toml::node>(node);
  const std::string shown = spelled.str();
  if (IsText(key)) {
    if (!node.is_string()) Refuse(key, shown);
    AssignText(recipe, key, node.as_string()->get());
  } else if (Is<Switch>(key)) {
    if (!node.is_boolean()) Refuse(key, shown);
    recipe.*std::get<Switch Recipe::*>(key.member) = node.as_boolean()->get();
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
  struct stat about {};
  if (stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode)) {
    throw InputRejected(path, "is no regular file");
  }
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
  static const std::vector<Key> keys = [] {
    std::vector<Key> list;
    const char* section = "";
#define DLCHECK_SECTION(title) section = title;
#define DLCHECK_KEY(type, member, name, initial, rule, meaning) \
  list.push_back({section, name, &Recipe::member, rule, meaning});
#include "reference/recipe/recipe.def"
#undef DLCHECK_KEY
    return list;
  }();
  return keys;
}

std::string Spelled(const Recipe& recipe, const Key& key) {
  const auto number = [](const auto& value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
    return std::string(text, end);
  };
  return std::visit(
      [&](auto member) -> std::string {
        using Value = std::decay_t<decltype(recipe.*member)>;
        const Value& value = recipe.*member;
        if constexpr (std::is_same_v<Value, Text>) return value;
        if constexpr (std::is_same_v<Value, Switch>) return value ? "true" : "false";
        if constexpr (std::is_same_v<Value, OptionalReal> ||
                      std::is_same_v<Value, OptionalInteger>) {
          return value ? number(*value) : "none";
        }
        if constexpr (std::is_same_v<Value, Integer> || std::is_same_v<Value, Real>) {
          return number(value);
        }
      },
      key.member);
}

bool ScalesLoss(const Recipe& recipe) {
  return recipe.loss_scale == "on" || (recipe.loss_scale == "auto" && recipe.autocast == "fp16");
}

bool IsBuiltIn(const std::string& model) {
  return model.find('.') == std::string::npos && model.find('/') == std::string::npos;
}

void Assign(Recipe& recipe, const Key& key, const std::string& text) {
  if (IsText(key)) return AssignText(recipe, key, text);
  if (Is<Switch>(key)) return AssignSwitch(recipe, key, text);
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
