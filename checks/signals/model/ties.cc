#include "checks/signals/model/ties.h"

#include "checks/signals/run/not_told.h"

namespace dlcheck {

absl::StatusOr<Ties> Ties::From(const Run& run) {
  const Trace& trace = run.trace;
  Ties ties;
  for (const ThingId id : trace.ThingsWith(Quantity::kTiedDistance)) {
    ties.ties.push_back({trace.Display(id), std::string(trace.Attribute(id, "tied_to")),
                         trace.Series(Quantity::kTiedDistance, id)});
  }
  const absl::StatusOr<Statements> copies = StatementsIn(run, Quantity::kCopiedTie);
  if (copies.ok()) ties.copies = copies->all;
  if (ties.ties.empty() && ties.copies.empty()) return absl::NotFoundError(kNotTold);
  return ties;
}

}  // namespace dlcheck
