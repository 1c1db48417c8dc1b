#include "checks/catalog/findings/schedule_length.h"

#include <algorithm>
#include <cmath>

namespace dlcheck {

bool LengthCounts::Agree(double a, double b) const { return std::abs(a - b) <= 1 + agreement * a; }

bool LengthCounts::IsInPasses() const {
  return horizon >= 3 && std::ranges::any_of(batches_in_pass, [this](double batches) {
           return std::abs(backward_calls / batches - horizon) <= agreement * horizon;
         });
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
