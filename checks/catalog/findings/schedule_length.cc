#include "checks/catalog/findings/schedule_length.h"

#include <algorithm>
#include <cmath>

#include "checks/engine/text.h"

namespace dlcheck {

bool LengthCounts::Agree(double a, double b) const { return std::abs(a - b) <= 1 + agreement * a; }

bool LengthCounts::IsInPasses() const {
  return horizon >= 3 && std::ranges::any_of(batches_in_pass, [this](double batches) {
           return std::abs(backward_calls / batches - horizon) <= agreement * horizon;
         });
}

double LengthCounts::PassesBeyond() const {
  constexpr double kMost = 4;  // times the last milestone: a run goes on for a while after it
  for (const double batches : batches_in_pass) {
    const double passes = backward_calls / batches;
    if (horizon >= 3 && horizon < batches && passes >= horizon && passes <= kMost * horizon) {
      return passes;
    }
  }
  return 0;
}

std::string WrongWithMilestones(const LengthCounts& counts) {
  const double passes = counts.PassesBeyond();
  if (passes == 0 || !counts.Agree(counts.moves, counts.calls)) return "";
  return StrCat(". All of its milestones came in the first of ", Short(passes),
                " passes over the data, so it should have stepped once per pass");
}

std::string WrongWithLength(const LengthCounts& n, bool rises_again, Severity& severity) {
  severity = Severity::kWarning;
  if (n.Agree(n.horizon, n.calls) && n.moves >= 2 && n.moves <= n.calls / 4) {
    return ". Its length equals the number of step calls, so it should have stepped at each of "
           "them";
  }
  const bool moves_each_step = n.Agree(n.moves, n.calls);
  if (rises_again && n.moves >= 2 * n.horizon) {
    if (!moves_each_step) return "";
    if (n.IsInPasses()) {
      return ". Its length equals the number of passes over the data, so it should have stepped "
             "once per pass; its learning rate rose repeatedly";
    }
    severity = Severity::kNote;
    return n.batches_in_pass.empty() ? ", so its learning rate rose repeatedly" : "";
  }
  if (!n.EndedEarly()) return "";
  if (moves_each_step && n.Agree(n.horizon, n.backward_calls)) {
    return ". Its length equals the number of backward calls, but several backward calls make one "
           "step, so it stopped far from its end";
  }
  severity = Severity::kNote;
  return kEndedEarly;
}

}  // namespace dlcheck
