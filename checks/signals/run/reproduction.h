// Values that must be bitwise equal in two runs with one seed: batches, weights and losses of the
// first steps, in order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Reproduction {
  static constexpr std::string_view kName = "reproduction";
  enum class What : uint8_t { kBatch, kWeights, kLoss };
  struct Value {
    int64_t step;
    What what;
    double value, aux;
  };
  // By rank, as ranks may make different numbers of steps; then by step, and within a step weights,
  // batch, loss. Of several processes of one rank the first.
  std::map<uint16_t, std::vector<Value>> values;
  bool loaded = false;           // state was loaded before the first step
  bool seeded = false;           // the program set a seed before its first step
  std::string nondeterministic;  // what was declared not to be deterministic; empty if nothing

  // Errors: NotFound if neither losses nor digests were observed.
  static absl::StatusOr<Reproduction> From(const Run& run);
};

}  // namespace dlcheck
