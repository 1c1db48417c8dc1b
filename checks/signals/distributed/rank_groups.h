// The groups of ranks that records belong to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "checks/engine/trace.h"

namespace dlcheck {

// Kinds of things: ranks that should hold the same weights, those that hold the same
// shards of tensors, and may work on the same data, and those of
// which nothing is known.
inline constexpr std::string_view kReplicas = "replicas", kCopies = "copies", kPeers = "peers";

using Ranks = std::vector<uint16_t>;  // ascending

// "0-3,6" as 0, 1, 2, 3, 6; empty if it is no such list.
Ranks MembersNamed(std::string_view name);

// One value for each of several ranks.
template <typename Value>
using ByRank = std::map<uint16_t, Value>;

// "rank 1", "ranks 1 and 2".
std::string RanksText(const Ranks& ranks);

// Why nothing can be compared between ranks: NotFound if no optimizer step was observed, else
// FailedPrecondition: only one process trained, or `otherwise`.
absl::Status WhyNotCompared(const Trace& trace, std::string_view otherwise);

// Whether these processes make equally many steps, of the same optimizers in the same order, so
// that steps of one number are the same moment for all: not where one trains another model beside,
// or leaves a step out. One that did not end by itself may lack one.
bool StepTogether(const Trace& trace, const Ranks& members);

// Those whose value is not the most frequent one; of equally frequent ones, that of the lowest rank
// counts. Empty if all are equal.
template <typename Value>
Ranks OddOnes(const ByRank<Value>& values) {
  std::map<Value, int> counts;
  for (const auto& [rank, value] : values) ++counts[value];
  const Value* usual = nullptr;
  for (const auto& [rank, value] : values) {
    if (usual == nullptr || counts[value] > counts[*usual]) usual = &value;
  }
  Ranks odd;
  for (const auto& [rank, value] : values) {
    if (value != *usual) odd.push_back(rank);
  }
  return odd;
}

}  // namespace dlcheck
