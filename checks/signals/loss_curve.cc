#include "checks/signals/loss_curve.h"

#include <algorithm>
#include <map>

#include "absl/strings/numbers.h"
#include "checks/signals/initial_loss.h"
#include "checks/signals/statistics.h"

namespace dlcheck {

absl::StatusOr<LossCurve> LossCurve::From(const Run& run) {
  const Trace& trace = run.trace;
  std::map<int64_t, std::pair<double, int>> sums;
  LossCurve curve;
  for (const ThingId thing : trace.ThingsWith(Quantity::kLoss)) {
    for (const Sample& sample : trace.Series(Quantity::kLoss, thing)) {
      if (curve.samples == 0) curve.samples = sample.aux;
      auto& [sum, count] = sums[sample.step];
      sum += sample.value;
      ++count;
    }
  }
  for (const ThingId thing : trace.ThingsOfKind("loss")) {
    const std::string_view kind = trace.Attribute(thing, "kind");
    if (!kind.empty()) curve.kind = std::string(kind);
    (void)absl::SimpleAtod(std::string(trace.Attribute(thing, "label_smoothing")),
                           &curve.label_smoothing);
    (void)absl::SimpleAtoi(std::string(trace.Attribute(thing, "classes")), &curve.classes);
  }
  for (const auto& [step, sum] : sums) curve.points.push_back({step, sum.first / sum.second});
  curve.loaded = LoadedBeforeStart(trace);
  if (curve.points.empty()) return absl::NotFoundError("no backward call from a loss was seen");
  return curve;
}

double LossCurve::LateMedian(size_t count) const {
  std::vector<double> late;
  for (size_t i = points.size() - std::min(count, points.size()); i < points.size(); ++i) {
    late.push_back(points[i].loss);
  }
  return Median(std::move(late));
}

}  // namespace dlcheck
