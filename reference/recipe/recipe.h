// Everything that a user of the trainer may choose, with its default, from flags and a TOML file
// with the same names. A plain value: it opens no data and makes no model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace dlcheck::reference {

struct Recipe {
  std::string data;  // empty: the digits that come with the program
  std::string model = "mlp";
  std::string optimizer = "sgd";
  std::optional<double> lr;  // none: LearningRate() chooses by optimizer
  double momentum = 0.9;     // of sgd
  double weight_decay = 0;
  int64_t batch_size = 64;
  int64_t steps = 600;
  int64_t evaluate_every = 100;
  double dropout = 0;
  int64_t seed = 0;
  int64_t threads = 1;
  std::string fault;  // empty: none is planted
  std::string save;   // empty: nothing is written
};

// The learning rate that the run uses.
double LearningRate(const Recipe& recipe);

// True for mlp and cnn, false for a plugin's path.
bool IsBuiltIn(const std::string& model);

// One choice: a flag `--name` and a key `name`.
struct Key {
  using Member = std::variant<std::string Recipe::*, int64_t Recipe::*, double Recipe::*,
                              std::optional<double> Recipe::*>;
  const char* name;
  Member member;
  const char* expected;  // what a good value is, after "expected: "
  bool (*is_good)(double number);
  const char* meaning;
};
const std::vector<Key>& Keys();

// Sets one choice from text, as a flag gives it. Errors: UsageError that names the key.
void Assign(Recipe& recipe, const Key& key, const std::string& text);

// Sets the choices of a TOML file. Errors: InputRejected that names the file and the key, and for
// an unknown key the nearest one.
void AssignFile(Recipe& recipe, const std::string& path);

}  // namespace dlcheck::reference
