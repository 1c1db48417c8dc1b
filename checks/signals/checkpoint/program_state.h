// Digests of the program's state at certain steps, and its losses: enough to tell whether two runs
// are equal.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct ProgramState {
  static constexpr std::string_view kName = "program state";
  using Digest = std::pair<double, double>;  // upper and lower half
  using Parts = std::map<std::string, Digest, std::less<>>;
  std::map<int64_t, Parts> at;  // by step, before it
  struct Loss {
    int64_t step;
    int64_t micro_step;
    double value;
    bool operator==(const Loss&) const;  // equal bits
  };
  std::vector<Loss> losses;      // as they came
  bool loaded = false;           // state was loaded before the first step
  std::string nondeterministic;  // what was declared not to be deterministic; empty if nothing

  // Null if the state before that step was not recorded.
  const Parts* PartsAt(int64_t step) const;

  // Every part as it was first recorded: of programs whose parts show at different steps.
  Parts AllParts() const;

  // Those of `count` steps from `first` on, with steps counted from there.
  std::vector<Loss> LossesFrom(int64_t first, int64_t count) const;

  // Errors: NotFound if no state was recorded.
  static absl::StatusOr<ProgramState> From(const Run& run);
};

// Names of the parts that are not the same bits in both, or that only one has.
std::vector<std::string> DifferingParts(const ProgramState::Parts& a, const ProgramState::Parts& b);

// Index of the first loss that differs; none if all that both have are equal.
std::optional<size_t> FirstDifference(const std::vector<ProgramState::Loss>& a,
                                      const std::vector<ProgramState::Loss>& b);

}  // namespace dlcheck
