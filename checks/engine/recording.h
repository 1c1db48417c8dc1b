// What the records themselves say about how far they can be trusted: what is damaged, missing, was
// not seen, or was refused. A value beside the coverage; renderers and the exit code read it.
#pragma once

#include <string>
#include <vector>

#include "checks/engine/evidence.h"

namespace dlcheck {

// From best to worst.
enum class Wholeness : uint8_t { kWhole, kMissing, kDamaged };

struct Recording {
  Wholeness wholeness = Wholeness::kWhole;   // of the records of all runs: the worst
  bool empty = false;                        // the plain run left not one record
  bool at_deadline = false;                  // the plain run was ended at its deadline
  std::string rejected = {};                 // "FILE: CAUSE" of an input that the program refused
  std::vector<std::string> gaps = {};        // what a probe could not see, a sentence each
  std::vector<std::string> redirected = {};  // files that experiments wrote to copies of, by name
};

// Cost: one pass over the events of every run.
Recording RecordingOf(const Evidence& evidence);

// Notes in the records of a run that these files of the program were written to copies, beside
// those that the probe noted.
void AddRedirected(const std::vector<std::string>& paths, Trace& trace);

}  // namespace dlcheck
