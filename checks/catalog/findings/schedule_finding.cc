#include "checks/catalog/findings/schedule_finding.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "checks/engine/text.h"

namespace dlcheck {

void AddFinding(const ScheduleFit& fit, ScheduleFit::Kind kind, Severity worst, double enough,
                const std::function<std::string(const ScheduleFit::Group&)>& how,
                Verdict& verdict) {
  const ScheduleFit::Group* most = nullptr;
  std::vector<std::string> names;
  std::vector<Place> places;
  for (const ScheduleFit::Group& group : fit.groups) {
    if (group.kind != kind) continue;
    names.push_back(group.name);
    places.push_back({.thing = group.name, .file = ""});
    if (most == nullptr || group.differing > most->differing) most = &group;
  }
  if (most == nullptr) return;
  const auto [used, scheduled] = ShortApart(most->used, most->scheduled);
  const bool persists = static_cast<double>(most->differing) >= enough;
  verdict.findings.push_back(
      {.severity = persists ? worst : Severity::kNote,
       .message =
           StrCat(names.size(), " of ",
                  Counted(static_cast<int64_t>(fit.groups.size()), "parameter group"), " (",
                  Listed(names), ") ", how(*most), ". The learning rate differed in ",
                  WithCommas(most->differing), " of ", Counted(most->judged, "step"),
                  ", at most at step ", most->step, ": ", used, " instead of ", scheduled, "."),
       .places = std::move(places),
       .first_step = most->first_step,
       .last_step = most->last_step,
       .count = most->differing,
       .measured = most->used,
       .bound = most->scheduled});
}

Verdict NothingFound(const ScheduleFit& fit) {
  int64_t steps = 0;
  for (const ScheduleFit::Group& group : fit.groups) steps = std::max(steps, group.judged);
  return {.findings = {},
          .judged = StrCat(Counted(static_cast<int64_t>(fit.groups.size()), "parameter group"),
                           " with a schedule that changes, ", Counted(steps, "step"))};
}

}  // namespace dlcheck
