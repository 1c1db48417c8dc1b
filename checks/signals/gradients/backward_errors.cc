#include "checks/signals/gradients/backward_errors.h"

#include "checks/engine/text.h"

namespace dlcheck {

absl::StatusOr<BackwardErrors> BackwardErrors::From(const Run& run) {
  const Trace& trace = run.trace;
  BackwardErrors found;
  for (const ThingId thing : trace.ThingsWith(Quantity::kBackwardError)) {
    const auto errors = trace.Series(Quantity::kBackwardError, thing);
    const auto ratios = trace.Series(Quantity::kBackwardRatio, thing);
    Function function{trace.Display(thing), trace.site(errors.front().site), {}};
    for (size_t i = 0; i < errors.size() && i < ratios.size(); ++i) {
      function.trials.push_back({errors[i].step, errors[i].value, errors[i].aux, ratios[i].value});
    }
    found.functions.push_back(std::move(function));
  }
  for (const ThingId thing : trace.ThingsOfKind("function")) {
    const std::string_view reason = trace.Attribute(thing, "untried");
    if (!reason.empty()) found.untried = StrCat(trace.Display(thing), ": ", reason);
  }
  if (found.functions.empty() && found.untried.empty()) {
    return absl::NotFoundError("no custom torch.autograd.Function was called");
  }
  return found;
}

}  // namespace dlcheck
