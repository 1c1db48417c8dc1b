// The flags of dlcheck-train.
#pragma once

#include <optional>

#include "reference/recipe/recipe.h"

namespace dlcheck::reference {

struct CommandLine {
  Recipe recipe;
  bool list_faults = false;
  bool print_recipe_page = false;
  bool lr_range = false;  // finds between which learning rates the recipe learns, instead of a run
  bool gradient_statistics = false;  // tells how noisy its gradients are, instead of a run
  std::string baseline;          // a capture, or data, for baselines to be trained on, and no run
  int64_t baseline_steps = 300;  // on data
  std::string baseline_json;     // where the result goes, too
  // Set when everything is done already: help was printed, or a line on standard error.
  std::optional<int> exit_status;
};

// A recipe file first, flags over it. Errors: UsageError, InputRejected.
CommandLine ReadCommandLine(int count, const char* const* arguments);

}  // namespace dlcheck::reference
