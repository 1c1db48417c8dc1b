// The first step, and in it the first quantity, in which two runs differ.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "diagnostics/compare/measured.h"

namespace dlcheck {

struct Difference {
  Stage stage = Stage::kData;
  int64_t step_a = 0, step_b = 0;
  int64_t last_equal = -1;  // step of A, compared and equal; -1: none before
  std::string quantity, thing;
  double a = 0, b = 0;
  double relative = 0;                 // |a - b| over the larger of both; 1 for digests
  size_t count_a = 0, count_b = 0;     // values of this quantity in the step; they may differ alone
  int64_t equal_before = 0;            // values that were compared and equal
  bool data_compared = false;          // both recorded the batch of this step
  size_t differing = 0, compared = 0;  // things of this stage in this step
};

struct Walk {
  int64_t steps = 0;   // with anything that both recorded
  int64_t values = 0;  // compared and equal, before the first difference
  std::optional<Difference> first;
  std::map<Stage, int64_t> differing = {};  // values, of the whole run

  // Whether no loss, weight or gradient differs: what does has no effect.
  bool trains_alike() const;
};

// Compares step s of B with step s + offset of A. Values are equal if their bits are, or both are
// NaN. Norms of two languages may differ by the rounding of a sum.
Walk WalkTogether(const Measured& a, const Measured& b, int64_t offset);

// The step of A that the first step of B continues, where B went on from a file; 0 where it began
// anew. `loads`: B read a state before its first step. nullopt: no step of A fits.
std::optional<int64_t> OffsetOf(const Measured& a, const Measured& b, bool loads);

}  // namespace dlcheck
