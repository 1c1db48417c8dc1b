#include "checks/signals/optimizer/motion.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "checks/signals/optimizer/optimizers.h"
#include "checks/signals/optimizer/ownership.h"

namespace dlcheck {
namespace {

// An update of this share of a weight is a few units of its last place in float32 or more.
constexpr double kVisible = 1e-6;
// An adaptive update is a hundredth of the rate or more, while the gradient is of its usual size.
constexpr double kVisibleRate = 1e-4;
constexpr double kUsualGradient = 0.01;

using Values = std::map<int64_t, double>;

// Of one process: what another holds under this name may be another part of it.
Values ByStep(const Trace& trace, Quantity quantity, ThingId thing, uint16_t rank,
              bool only_finite) {
  Values values;
  for (const Sample& sample : trace.Series(quantity, thing)) {
    if (sample.rank != rank) continue;
    if (!only_finite || (sample.aux == 0 && std::isfinite(sample.value))) {
      values[sample.step] = sample.value;
    }
  }
  return values;
}

double At(const Values& values, int64_t step) {
  const auto found = values.find(step);
  return found == values.end() ? 0 : found->second;
}

std::set<int64_t> StepsLeftOut(const Trace& trace) {
  std::set<int64_t> steps;
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kSkipped && !event.gap) steps.insert(event.step);
  }
  return steps;
}

class Reading {
 public:
  Reading(const Trace& trace, const Optimizers& optimizers)
      : trace_(trace), optimizers_(optimizers), left_out_(StepsLeftOut(trace)) {
    for (const ThingId group : trace.ThingsWith(Quantity::kLearningRate)) {
      groups_[trace.thing(group).name] = group;
    }
  }

  Motion::Parameter Read(ThingId id) const {
    Motion::Parameter parameter{.name = trace_.Display(id)};
    const std::string group(trace_.Attribute(id, "optimizer"));
    const auto own = optimizers_.optimizers.find(OptimizerOrdinal(group));
    const auto with_rate = groups_.find(group);
    if (own == optimizers_.optimizers.end() || with_rate == groups_.end()) return parameter;
    const bool is_adaptive = own->second.is_adaptive();
    if (IsHalf(id) || (!is_adaptive && own->second.type != "SGD")) return parameter;
    const std::span<const Sample> norms = trace_.Series(Quantity::kGradientNorm, id);
    if (norms.empty()) return parameter;
    const uint16_t rank = norms.front().rank;
    const Values rates = ByStep(trace_, Quantity::kLearningRate, with_rate->second, rank, false);
    const Values gradients = ByStep(trace_, Quantity::kGradientNorm, id, rank, true);
    const Values weights = ByStep(trace_, Quantity::kWeightNorm, id, rank, true);
    double largest = 0;
    for (const auto& [step, norm] : gradients) largest = std::max(largest, norm);
    for (const auto& [step, moved] : ByStep(trace_, Quantity::kUpdateNorm, id, rank, false)) {
      const double gradient = At(gradients, step), rate = At(rates, step);
      if (!(gradient > 0) || left_out_.contains(step) || !weights.contains(step)) continue;
      const double weight = At(weights, step);
      const bool is_visible = is_adaptive
                                  ? gradient >= kUsualGradient * largest &&
                                        rate * std::sqrt(Elements(id)) > kVisibleRate * weight
                                  : gradient * rate > kVisible * weight;
      if (!is_visible) continue;
      if (parameter.judged++ == 0) parameter.first_step = step;
      parameter.last_step = step;
      parameter.moved = parameter.moved || moved != 0;
      parameter.gradient = gradient;
      parameter.rate = rate;
    }
    return parameter;
  }

 private:
  bool IsHalf(ThingId id) const {
    const std::string_view type = trace_.Attribute(id, "dtype");
    return type.ends_with("float16") || type.starts_with("float8");
  }

  double Elements(ThingId id) const {
    double elements = 1;
    return absl::SimpleAtod(std::string(trace_.Attribute(id, "elements")), &elements) ? elements
                                                                                      : 1;
  }

  const Trace& trace_;
  const Optimizers& optimizers_;
  const std::set<int64_t> left_out_;
  std::map<std::string, ThingId> groups_;  // of parameters, those with a rate, by name
};

}  // namespace

absl::StatusOr<Motion> Motion::From(const Run& run) {
  const absl::StatusOr<Optimizers> optimizers = Optimizers::From(run);
  if (!optimizers.ok()) return optimizers.status();
  const std::vector<ThingId> measured = run.trace.ThingsWith(Quantity::kUpdateNorm);
  if (measured.empty()) {
    return absl::NotFoundError("the size of parameter updates was not recorded");
  }
  const Reading reading(run.trace, *optimizers);
  Motion result;
  for (const ThingId id : measured) {
    Parameter parameter = reading.Read(id);
    if (parameter.judged > 0) result.parameters.push_back(std::move(parameter));
  }
  if (result.parameters.empty()) {
    return absl::FailedPreconditionError(
        "no step had a gradient and a learning rate large enough to predict a change of the "
        "weights");
  }
  return result;
}

}  // namespace dlcheck
