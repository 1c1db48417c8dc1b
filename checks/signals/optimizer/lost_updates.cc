#include "checks/signals/optimizer/lost_updates.h"

#include <utility>

#include "checks/signals/run/statistics.h"

namespace dlcheck {

absl::StatusOr<LostUpdateCounts> LostUpdateCounts::From(const Run& run) {
  const Trace& trace = run.trace;
  const std::vector<ThingId> things = trace.ThingsWith(Quantity::kLostUpdates);
  if (things.empty())
    return absl::NotFoundError("no optimizer update was recomputed for comparison");
  LostUpdateCounts lost;
  lost.rounding = std::string(trace.ProcessAttribute("declared.rounding"));
  for (const ThingId thing : things) {
    const std::string_view type = trace.Attribute(thing, "dtype");
    if (type != "bfloat16" && type != "float16") continue;
    Parameter parameter{.name = trace.Display(thing)};
    std::vector<double> shares;
    for (const Sample& sample : trace.Series(Quantity::kLostUpdates, thing)) {
      if (!(sample.aux > 0)) continue;
      parameter.elements = sample.aux;
      shares.push_back(sample.value);
      lost.steps.insert(sample.step);
    }
    if (shares.empty()) continue;
    parameter.share = Median(shares);
    lost.parameters.push_back(std::move(parameter));
  }
  return lost;
}

double LostUpdateCounts::Share() const {
  double lost = 0, elements = 0;
  for (const Parameter& parameter : parameters) {
    lost += parameter.share * parameter.elements;
    elements += parameter.elements;
  }
  return lost / elements;
}

}  // namespace dlcheck
