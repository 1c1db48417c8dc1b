// Everything that a user of the trainer may choose, with its default, from flags and a TOML file
// with the same names. A plain value: it opens no data and makes no model. The list is recipe.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "reference/recipe/rule.h"

namespace dlcheck::reference {

// The types that recipe.def names.
using Text = std::string;
using Integer = int64_t;
using Real = double;
using Switch = bool;
using OptionalReal = std::optional<double>;
using OptionalInteger = std::optional<int64_t>;

struct Recipe {
#define DLCHECK_KEY(type, member, name, initial, rule, meaning) type member = initial;
#include "reference/recipe/recipe.def"
#undef DLCHECK_KEY
};

// What the run uses, by its optimizer where the recipe leaves it open. Linear scaling: Goyal et al.
// 2017; by the root: Krizhevsky 2014.
double LearningRate(const Recipe& recipe);
double Momentum(const Recipe& recipe);
double Beta2(const Recipe& recipe);
double Epsilon(const Recipe& recipe);

// Whether the schedule ends at a horizon.
bool EndsAtHorizon(const Recipe& recipe);

// The factor of the learning rate of a parameter, by lr-factors.
//
// Errors: UsageError for what is not PATTERN=FACTOR, with a pattern and a factor above 0.
double RateFactorOf(const Recipe& recipe, const std::string& parameter);

// The updates of a text like "100,200". Errors: UsageError for other texts.
std::vector<int64_t> MilestonesOf(const std::string& text);

// True if a loss scaler runs.
bool ScalesLoss(const Recipe& recipe);

// Whether it is no path of a plugin or a TorchScript file.
bool IsBuiltIn(const std::string& model);

// One choice: a flag `--name` and a key `name`.
struct Key {
  using Member = std::variant<Text Recipe::*, Integer Recipe::*, Real Recipe::*, Switch Recipe::*,
                              OptionalReal Recipe::*, OptionalInteger Recipe::*>;
  const char* section;
  const char* name;
  Member member;
  Rule rule;
  const char* meaning;
};
const std::vector<Key>& Keys();

// A value as it would be typed; "none" for an optional that has none, "" for an empty text.
std::string Spelled(const Recipe& recipe, const Key& key);

// Sets one choice from text, as a flag gives it. Errors: UsageError that names the key.
void Assign(Recipe& recipe, const Key& key, const std::string& text);

// Sets the choices of a TOML file. Errors: InputRejected that names the file and the key, and for
// an unknown key the nearest one.
void AssignFile(Recipe& recipe, const std::string& path);

}  // namespace dlcheck::reference
