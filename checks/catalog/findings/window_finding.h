// Settings, sorting and findings that the checks of accumulation windows share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "checks/engine/check.h"
#include "checks/signals/loss/windows.h"

namespace dlcheck {

inline constexpr Setting kShareTolerance{
    .name = "tolerance",
    .value = 1e-3,
    .low = 1e-6,
    .high = 0.05,
    .unit = "1",
    .meaning = "relative difference between a loss share and the expected share",
    .source = "own reasoning: a loss of 0.01 in fp32 is exact to 1e-4, one in bf16 to 4e-3"};

inline constexpr Setting kEnoughWindows{
    .name = "windows",
    .value = 3,
    .low = 1,
    .high = 1e6,
    .unit = "accumulation windows",
    .meaning = "fewest accumulation windows for a finding",
    .source = "own reasoning: all of them agree to 0.001, so three are not chance"};

inline constexpr Setting kMean{
    .name = "mean",
    .value = 1e-2,
    .low = 1e-6,
    .high = 0.5,
    .unit = "1",
    .meaning = "largest distance from 1 of the summed loss shares of a mean",
    .source = "own reasoning: only an undivided single loss has a share of 1"};

// True if all accumulation windows of these steps (ascending) were divided: each loss is a part,
// and the parts add up to a mean within `bound`.
bool Accumulates(const Windows& windows, const std::vector<int64_t>& steps, double bound);

inline constexpr Setting kRareWindows{
    .name = "rare",
    .value = 0.25,
    .low = 0,
    .high = 1,
    .unit = "1",
    .meaning = "share of all accumulation windows below which an undeclared case is a note",
    .source =
        "own reasoning: the last accumulation window of an epoch is rarely full and counts little"};

// A finding over `windows`. REQUIRES: windows is not empty.
Finding WindowFinding(Severity severity, std::string message,
                      const std::vector<const Windows::Window*>& windows, double measured,
                      double bound);

// "3 accumulation windows of 2 to 4 micro-batches"
std::string Described(const std::vector<const Windows::Window*>& windows);

// FailedPrecondition unless the division of accumulation windows can be judged: some step has
// several micro-batches, one optimizer steps at a time, and the program declares a mean or nothing.
absl::Status IsAWindowQuestion(const Windows& windows);

using SortedWindows = std::map<Division, std::vector<const Windows::Window*>>;

// Accumulation windows of at least `least` micro-batches, by the divisor of their losses.
SortedWindows Sorted(const Windows& windows, size_t least, double tolerance);

// Why accumulation windows with unexplained shares cannot be judged.
absl::Status UnknownDivision(int64_t unknown, int64_t windows);

}  // namespace dlcheck
