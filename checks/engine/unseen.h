// Parts of a run that no hook observes: inside compiled or captured graphs, and inside modules that
// run as one call. Their modules, losses and optimizer steps leave no records.
#pragma once

#include <cstdint>

#include "checks/engine/trace.h"

namespace dlcheck {

struct Unseen {
  int64_t compiled_graphs = 0;
  int64_t graph_replays = 0;
  int64_t opaque_modules = 0;  // scripted, traced and exported ones
  // Modules that hold no other, and those of them that no training forward was seen of. Counted
  // only where something is unseen.
  int64_t layers = 0, layers_seen = 0;

  bool Any() const { return compiled_graphs + graph_replays + opaque_modules > 0; }
};

Unseen UnseenIn(const Trace& trace);

}  // namespace dlcheck
