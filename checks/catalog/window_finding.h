// What the checks of loop/ say about windows of micro-batches: the settings, the sorting and the
// finding that they share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "checks/engine/check.h"
#include "checks/signals/windows.h"

namespace dlcheck {

inline constexpr Setting kShareTolerance{
    .name = "tolerance",
    .value = 1e-3,
    .low = 1e-6,
    .high = 0.05,
    .unit = "1",
    .meaning = "relative difference of a loss share from what explains it",
    .source = "own reasoning: a loss of 0.01 in fp32 is exact to 1e-4, one in bf16 to 4e-3"};

inline constexpr Setting kEnoughWindows{
    .name = "windows",
    .value = 3,
    .low = 1,
    .high = 1e6,
    .unit = "windows",
    .meaning = "fewest windows that a finding rests on",
    .source = "own reasoning: all of them agree to a thousandth, so that three are no chance"};

inline constexpr Setting kMean{
    .name = "mean",
    .value = 1e-2,
    .low = 1e-6,
    .high = 0.5,
    .unit = "1",
    .meaning = "how near to 1 the loss shares of a window add that is a mean",
    .source = "own reasoning: a single loss has a share of 1 alone"};

// True if all windows of these steps, ascending, were divided for an accumulation: each loss is a
// part, and together they are a mean but for `bound`.
bool Accumulates(const Windows& windows, const std::vector<int64_t>& steps, double bound);

inline constexpr Setting kRareWindows{
    .name = "rare",
    .value = 0.25,
    .low = 0,
    .high = 1,
    .unit = "1",
    .meaning = "share of all windows below which it is a note, where no mean is declared",
    .source = "own reasoning: the last window of an epoch is seldom whole, and counts for little"};

// A finding over `windows`. REQUIRES: they are not empty.
Finding WindowFinding(Severity severity, std::string message,
                      const std::vector<const Windows::Window*>& windows, double measured,
                      double bound);

// "3 windows of 2 to 4 micro-batches"
std::string Described(const std::vector<const Windows::Window*>& windows);

// FailedPrecondition unless a window may be asked how it was divided: some step has several
// micro-batches, one optimizer steps at a time, and the program did not declare that they are to be
// something else than a mean.
absl::Status IsAWindowQuestion(const Windows& windows);

using SortedWindows = std::map<Division, std::vector<const Windows::Window*>>;

// Windows of at least `least` micro-batches, by what divided their losses.
SortedWindows Sorted(const Windows& windows, size_t least, double tolerance);

// Why windows whose shares nothing explains cannot be judged.
absl::Status UnknownDivision(int64_t unknown, int64_t windows);

}  // namespace dlcheck
