// Random numbers that training draws again, because the program sets its seed again: the state of
// the CPU's default generator, as a step begins, is that of an earlier step.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <utility>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class RepeatedDraws {
 public:
  // The program asked for the generator itself, as torch::manual_seed() does.
  void GeneratorAsked();
  // What an evaluation drew is over: a step that draws nothing after it has the state of its end.
  void EvaluationEnds();
  // An optimizer is about to step, for which the batch and the dropout masks were drawn.
  // Cost: a copy of the generator's state, 2.5 kB.
  void Consumed(int optimizer, ProbeRecorder& recorder);

 private:
  void Write(int optimizer, uint64_t state, const ProbeClock::Moment& moment,
             ProbeRecorder& recorder);

  Probe::Site site_{"", 0, ""};        // where the generator was asked for last
  uint64_t last_ = 0, evaluated_ = 0;  // states as the last step began, an evaluation ended
  int64_t asked_ = 0;
  int written_ = 0;
  struct First {
    int64_t step;
    bool is_written;
  };
  std::map<std::pair<int, uint64_t>, First> first_;  // by optimizer and state
};

}  // namespace dlcheck
