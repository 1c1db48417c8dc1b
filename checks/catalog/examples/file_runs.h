// The run that examples of checks of saved and loaded files start from.
#pragma once

#include <string_view>

#include "checks/engine/evidence.h"

namespace dlcheck {

struct FileValues {
  std::string_view contents = "model optimizer other";
  bool loads = false;             // from old.pt, before the first step
  bool puts_in_optimizer = true;  // what it loads; the model always
  bool keeps_state = true;        // the optimizer has state at all
  bool saves_over = false;        // a file of the same contents after each step
  bool saves_numbered = false;    // files of the same contents, one after each step
  bool loads_back = false;        // after the second step, from what it saved
  bool scheduler_moves = false;
  bool beside = false;        // the optimizer is saved in a file of its own
  std::string_view fed = "";  // a model that each step feeds; a probe says no more of its loads
  bool elsewhere = false;     // the model's weights go into another object
  double share = 1;           // of the model that the loaded state fits
};

// Four steps between loading and saving.
Evidence WithFiles(const FileValues& values);

// After each of four steps, the model goes into net.pt and the optimizer into moments.pt.
struct PairValues {
  bool reads_model = true, reads_optimizer = true;  // before the first step
  bool is_pair = true;         // moments.pt is written after the last step alone
  bool trains_before = false;  // one step of the model comes before the files
};
Evidence WithPair(const PairValues& values);

}  // namespace dlcheck
