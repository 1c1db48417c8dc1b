#include "checks/signals/loss/loss_terms.h"

#include <algorithm>
#include <cmath>

namespace dlcheck {

bool LossTerms::Term::HasOneFactor() const {
  return std::ranges::all_of(
      moments, [&](const Moment& moment) { return moment.factor == moments.front().factor; });
}

double LossTerms::Term::Variation() const {
  const auto [low, high] = std::ranges::minmax(moments, {}, &Moment::value);
  const double size = std::max(std::abs(low.value), std::abs(high.value));
  return size == 0 ? 0 : (high.value - low.value) / size;
}

absl::StatusOr<LossTerms> LossTerms::From(const Run& run) {
  const Trace& trace = run.trace;
  LossTerms found{.terms = {}, .untried = std::string(trace.ProcessAttribute("untried/terms"))};
  for (const ThingId thing : trace.ThingsWith(Quantity::kTermShare)) {
    const auto shares = trace.Series(Quantity::kTermShare, thing);
    const auto values = trace.Series(Quantity::kTermValue, thing);
    Term term{trace.Display(thing), trace.site(shares.front().site), {}};
    for (size_t i = 0; i < shares.size() && i < values.size(); ++i) {
      term.moments.push_back({.step = shares[i].step,
                              .of_gradient = shares[i].value,
                              .of_loss = shares[i].aux,
                              .value = values[i].value,
                              .factor = values[i].aux});
    }
    found.terms.push_back(std::move(term));
  }
  if (found.terms.empty() && found.untried.empty()) {
    return absl::NotFoundError("no loss graph was split into its terms");
  }
  return found;
}

}  // namespace dlcheck
