// A finding about parameters of some of the processes of a group, as checks of replicas make it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "checks/engine/check.h"
#include "checks/engine/text.h"
#include "checks/signals/replicas.h"

namespace dlcheck {

// Members up to which a group is told apart by rank in the places of a finding.
inline constexpr size_t kMostRanksTold = 8;

struct OddParameter {
  const Replicas::Parameter* parameter;
  const Replicas::State* state;  // the first in which it is another
};

// `found` is not empty; `measured` is how many parameters there are, against none.
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

// A program that shares in a way of its own may mean what it does; weights that came together
// before may do so again.
inline Severity SeverityOf(const Replicas& replicas, const Replicas::Parameter& parameter) {
  if (replicas.own_sharing) return Severity::kNote;
  return parameter.CameTogether() ? Severity::kWarning : Severity::kError;
}

// How a parameter differs in a state: of equally large parts of a group none is the odd one.
inline std::string DifferenceText(const Replicas::State& state, const Replicas::Group& group) {
  if (2 * state.odd.size() == group.members.size())
    return StrCat("differs between ranks ", group.name);
  return StrCat("is another on ", RanksText(state.odd));
}

// "of 12 of 24 parameters".
inline std::string Share(size_t found, const Replicas::Group& group) {
  return StrCat(found, " of ", Counted(static_cast<int64_t>(group.parameters.size()), "parameter"));
}

}  // namespace dlcheck
