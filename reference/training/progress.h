// What the user sees while the trainer works: a line an evaluation on standard output, and on a
// terminal a moving line on standard error.
#pragma once

#include <cstdint>
#include <string>

#include "reference/training/counters.h"

namespace dlcheck::reference {

// "val loss 0.1234  val accuracy 0.9000": of a split, without an accuracy that is no number.
std::string ScoresText(const char* split, double loss, double accuracy);

class Progress {
 public:
  Progress(int64_t steps, bool is_silent);

  void Stepped(int64_t step, const Counters& counters);
  void Evaluated(int64_t step, double loss, double accuracy);
  void Finished(const Counters& counters, double loss, double accuracy);

 private:
  void ClearLine();

  int64_t steps_;
  bool is_silent_;
  bool on_terminal_;
};

}  // namespace dlcheck::reference
