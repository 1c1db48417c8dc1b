// Models most of whose weights are frozen as they were made: nobody trained them and nobody loaded
// any.
#pragma once

#include <cstdint>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class FrozenAsMade {
 public:
  // Looks at the models after steps 2 and 32. Cost: a pass over the frozen weights.
  void StepEnds(ProbeRecorder& recorder);

 private:
  int64_t looked_at_ = -1;  // the last step
};

}  // namespace dlcheck
