#include "checks/signals/model/reference_errors.h"

#include "checks/engine/text.h"

namespace dlcheck {

absl::StatusOr<ReferenceErrors> ReferenceErrors::From(const Run& run) {
  const Trace& trace = run.trace;
  ReferenceErrors found;
  for (const ThingId thing : trace.ThingsWith(Quantity::kReferenceError)) {
    const auto errors = trace.Series(Quantity::kReferenceError, thing);
    Function function{trace.Display(thing),
                      std::string(trace.Attribute(thing, "stood_in_by")),
                      trace.site(errors.front().site),
                      {}};
    for (const Sample& sample : errors) {
      function.trials.push_back({sample.step, sample.value, sample.aux});
    }
    found.functions.push_back(std::move(function));
  }
  for (const ThingId thing : trace.ThingsOfKind("function")) {
    const std::string_view reason = trace.Attribute(thing, "untried/reference");
    if (!reason.empty()) found.untried = StrCat(trace.Display(thing), ": ", reason);
  }
  if (found.functions.empty() && found.untried.empty()) {
    return absl::NotFoundError("neither cross_entropy nor scaled_dot_product_attention was called");
  }
  return found;
}

}  // namespace dlcheck
