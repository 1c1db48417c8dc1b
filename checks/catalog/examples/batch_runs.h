// The run that examples of checks of batches and their order start from.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "checks/engine/evidence.h"

namespace dlcheck {

// A batch for each place, the same in each iteration.
inline int SameByPlace(int, int place) { return place; }

struct BatchValues {
  std::string_view order = "random";
  int steps = 16;
  int places = 4;        // batches of an iteration
  double samples = 128;  // of the data set
  double fetched = 32;   // samples of a batch as handed out
  double used = 32;      // as it entered the model
  double counted = 32;   // by the loss
  int uses = 1;          // of the model, for each batch handed out
  int tested_each = 0;   // steps from one evaluation in training mode with gradients to the next
  int others_each = 0;   // steps from one batch of another loader to the next; 0 for none
  // Which batch it is, by iteration and place; random batches are never the same.
  std::function<int(int iteration, int place)> batch = [](int iteration, int place) {
    return 4 * iteration + place;
  };
  // The same of what the loader handed out, where the program changed it; none if not known.
  std::function<int(int iteration, int place)> handed_out = nullptr;
  std::string_view shuffle = "";  // declared
  int same_start = 1;             // iterations that began with one state of the generator
};

Evidence WithBatches(const BatchValues& values);

}  // namespace dlcheck
