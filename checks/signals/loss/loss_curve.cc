#include "checks/signals/loss/loss_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "absl/strings/numbers.h"
#include "checks/signals/loss/initial_loss.h"
#include "checks/signals/run/statistics.h"

namespace dlcheck {
namespace {

constexpr double kSameShare = 1e-3;

bool HasSamples(const Trace& trace, Quantity quantity) {
  return !trace.ThingsWith(quantity).empty();
}

bool HasFrozen(const Trace& trace) {
  return std::ranges::any_of(trace.ThingsOfKind("parameter"), [&trace](ThingId parameter) {
    return trace.Attribute(parameter, "requires_grad") == "0";
  });
}

// Whether each backward call whose loss is understood began from the mean of one known loss.
bool IsPlainMean(const Trace& trace) {
  size_t count = 0;
  for (const ThingId thing : trace.ThingsWith(Quantity::kLossShare)) {
    for (const Sample& sample : trace.Series(Quantity::kLossShare, thing)) {
      ++count;
      if (std::abs(sample.value - 1) > kSameShare) return false;
    }
  }
  size_t losses = 0;
  for (const ThingId thing : trace.ThingsWith(Quantity::kLoss)) {
    for (const Sample& sample : trace.Series(Quantity::kLoss, thing)) losses += sample.step < 64;
  }
  return count >= losses;
}

bool HasManyTargets(const Trace& trace, double samples) {
  for (const ThingId thing : trace.ThingsWith(Quantity::kLossShare)) {
    for (const Sample& sample : trace.Series(Quantity::kLossShare, thing)) {
      if (sample.aux > samples) return true;
    }
  }
  return false;
}

std::string DoubtOf(const Trace& trace, const LossCurve& curve) {
  if (curve.kind != "cross_entropy" && curve.kind != "nll" && curve.kind != "mse") {
    return "the minimum of the loss may be above zero";
  }
  if (!IsPlainMean(trace)) return "the loss has further terms or is not a mean";
  if (HasManyTargets(trace, curve.samples)) return "each sample has several targets";
  if (!HasSamples(trace, Quantity::kInputNorm) || HasSamples(trace, Quantity::kTargetShift)) {
    return "equal integer inputs may have different targets";
  }
  if (!trace.ProcessAttribute("draws_in_forward").empty()) {
    return "the model draws random numbers";
  }
  const bool has_frozen = HasFrozen(trace) || !trace.ProcessAttribute("frozen_features").empty();
  return has_frozen ? "a part of the model is frozen" : "";
}

int64_t OptimizersOf(const Trace& trace) {
  std::set<ThingId> stepped;
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kStep && !event.gap) stepped.insert(event.thing);
  }
  return static_cast<int64_t>(stepped.size());
}

// The first step at which a second optimizer was seen to step; none: past all steps.
int64_t SecondOptimizerAt(const Trace& trace) {
  ThingId first = 0;
  for (const Occurrence& event : trace.Events()) {
    if (event.event != Event::kStep || event.gap) continue;
    if (first == 0) first = event.thing;
    if (event.thing != first) return event.step;
  }
  return std::numeric_limits<int64_t>::max();
}

double FirstShare(const Trace& trace) {
  for (const ThingId thing : trace.ThingsWith(Quantity::kLossShare)) {
    const Sample& first = trace.Series(Quantity::kLossShare, thing).front();
    if (first.step == 0) return first.value;
  }
  return 1;
}

}  // namespace

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
  curve.share = FirstShare(trace);
  curve.loaded = LoadedBeforeStart(trace);
  curve.logged = !trace.ProcessAttribute("log").empty();
  if (curve.points.empty()) return absl::NotFoundError("no backward call on a loss was observed");
  curve.optimizers = OptimizersOf(trace);
  curve.alone = static_cast<size_t>(std::ranges::count_if(
      curve.points,
      [at = SecondOptimizerAt(trace)](const Point& point) { return point.step < at; }));
  curve.doubt = DoubtOf(trace, curve);
  return curve;
}

LossCurve LossCurve::OfTheFirstOptimizer() const {
  LossCurve curve = *this;
  curve.points.resize(alone);
  return curve;
}

bool LossCurve::IsFinite() const {
  return std::ranges::all_of(points, [](const Point& point) { return std::isfinite(point.loss); });
}

double LossCurve::LateMedian(size_t count) const {
  std::vector<double> late;
  for (size_t i = points.size() - std::min(count, points.size()); i < points.size(); ++i) {
    late.push_back(points[i].loss);
  }
  return Median(std::move(late));
}

}  // namespace dlcheck
