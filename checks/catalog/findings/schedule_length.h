// What is wrong with the length of a schedule, by the counts of a run.
#pragma once

#include <string>
#include <vector>

#include "checks/engine/check.h"

namespace dlcheck {

inline constexpr char kEndedEarly[] = ": the run ended before half of the schedule";

struct LengthCounts {
  double horizon, moves, calls, backward_calls;  // in steps of the scheduler, then calls of the run
  const std::vector<double>& batches_in_pass;    // of each loader
  double agreement;  // largest relative difference of two equal counts, plus one

  bool Agree(double a, double b) const;
  bool EndedEarly() const { return horizon >= 2 * moves && moves >= 2; }
  // The length equals the number of passes over the data of some loader, three or more.
  bool IsInPasses() const;
  // The passes over the data of a loader that has more batches than the schedule has steps, of
  // which there are as many as the length or a few times more; 0 if there is no such loader.
  double PassesBeyond() const;
};

// The end of a sentence about a length that is the last of several milestones; empty if nothing is
// wrong.
std::string WrongWithMilestones(const LengthCounts& counts);

// The end of a sentence about the length; empty if nothing is wrong. Sets the severity.
std::string WrongWithLength(const LengthCounts& counts, bool rises_again, Severity& severity);

}  // namespace dlcheck
