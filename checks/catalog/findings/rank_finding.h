// A finding about parameters that differ between ranks.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "checks/engine/check.h"
#include "checks/engine/text.h"
#include "checks/signals/distributed/replicas.h"

namespace dlcheck {

// Largest number of differing ranks that the places of a finding list one by one.
inline constexpr size_t kMostRanksTold = 8;

struct OddParameter {
  const Replicas::Parameter* parameter;
  const Replicas::State* state;  // the first in which it differs
};

// `found` is not empty; `measured` is the number of parameters; the bound is 0.
inline Finding FindingAbout(const std::vector<OddParameter>& found, Severity severity,
                            std::string message, int64_t last_step) {
  std::vector<Place> places;
  int64_t first_step = found.front().state->step;
  for (const auto& [parameter, state] : found) {
    first_step = std::min(first_step, state->step);
    for (const uint16_t rank : state->odd) {
      if (state->odd.size() > kMostRanksTold && rank != state->odd.front()) continue;
      places.push_back({.thing = parameter->name, .rank = rank, .file = ""});
    }
  }
  return {.severity = severity,
          .message = std::move(message),
          .places = std::move(places),
          .first_step = first_step,
          .last_step = last_step,
          .count = static_cast<int64_t>(found.size()),
          .measured = static_cast<double>(found.size()),
          .bound = 0};
}

// A program with its own gradient synchronization may differ on purpose; weights that became equal
// before may do so again.
inline Severity SeverityOf(const Replicas& replicas, const Replicas::Parameter& parameter) {
  if (replicas.own_sharing) return Severity::kNote;
  return parameter.CameTogether() ? Severity::kWarning : Severity::kError;
}

// How a parameter differs in a state; if a group is split in half, no rank is the odd one.
inline std::string DifferenceText(const Replicas::State& state, const Replicas::Group& group) {
  if (2 * state.odd.size() == group.members.size())
    return StrCat("differs between ranks ", group.name);
  return StrCat("differs on ", RanksText(state.odd));
}

// "12 of 24 parameters".
inline std::string Share(size_t found, const Replicas::Group& group) {
  return StrCat(found, " of ", Counted(static_cast<int64_t>(group.parameters.size()), "parameter"));
}

}  // namespace dlcheck
