// Example evidence: runs that were interrupted and resumed.
#pragma once

#include "checks/engine/evidence.h"

namespace dlcheck {

// A host that takes part. Its optimizer's moments have the digest `moments` as it is resumed, where
// the uninterrupted run has 14, and another uninterrupted run `again`.
Evidence Resumed(double moments, double loss, double again);

// A program that was interrupted as it had saved its state after 7 steps, and started again.
struct Restart {
  double moments = 14;
  double order = 16;
  double loss = 2.3;
  bool has_buffers = true;
};
Evidence Restarted(const Restart& restart);

}  // namespace dlcheck
