#include "diagnostics/compare/difference.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace dlcheck {
namespace {

constexpr double kRoundingOfNorms = 1e-5;  // float32 norms of a million elements, summed otherwise

double Relative(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return 1;
  return std::abs(a - b) / std::max(std::abs(a), std::abs(b));
}

const StageValues* In(const std::map<Stage, StageValues>& stages, Stage stage) {
  const auto found = stages.find(stage);
  return found == stages.end() ? nullptr : &found->second;
}

// In a step that both recorded in full; nothing where neither clips.
std::optional<Difference> OneClips(const StageValues* a, const StageValues* b) {
  if (a == nullptr && b == nullptr) return std::nullopt;
  const auto count = [](const StageValues* values) {
    return values == nullptr ? size_t{0} : values->begin()->second.size();
  };
  return Difference{.stage = Stage::kClip,
                    .quantity = "clip",
                    .thing = "",
                    .relative = 1,
                    .count_a = count(a),
                    .count_b = count(b),
                    .differing = 1,
                    .compared = 1};
}

class StepComparison {
 public:
  StepComparison(const Measured& a, const Measured& b)
      : one_language_(a.of_python() == b.of_python()) {}

  // Of one stage of a step; what only one run records is passed over.
  std::optional<Difference> InStage(Stage stage, const StageValues& a, const StageValues& b) {
    std::optional<Difference> first;
    size_t differing = 0, compared = 0;
    for (const auto& [key, values] : a) {
      const auto other = b.find(key);
      const bool is_of_rows = key.quantity == "batch_fingerprint";  // the Python probe reads a part
      if (other == b.end() || (is_of_rows && !one_language_)) continue;
      ++compared;
      std::optional<Difference> found = InValues(key, values, other->second);
      if (!found.has_value()) continue;
      ++differing;
      if (!first.has_value()) first = std::move(found);
    }
    if (!first.has_value()) return first;
    first->stage = stage;
    first->differing = differing;
    first->compared = compared;
    return first;
  }

  // Of all stages, in their order.
  std::vector<Difference> InStep(const std::map<Stage, StageValues>& a,
                                 const std::map<Stage, StageValues>& b) {
    std::vector<Difference> all;
    const bool whole = a.contains(Stage::kData) && b.contains(Stage::kData);
    for (const Stage stage : kStages) {
      const StageValues *of_a = In(a, stage), *of_b = In(b, stage);
      std::optional<Difference> found;
      const int64_t before = values_;
      if (of_a != nullptr && of_b != nullptr) {
        found = InStage(stage, *of_a, *of_b);
      } else if (whole && stage == Stage::kClip) {
        found = OneClips(of_a, of_b);
      }
      if (!found.has_value()) continue;
      found->data_compared = whole;
      found->equal_before = before;
      all.push_back(*std::move(found));
    }
    return all;
  }

  int64_t values() const { return values_; }

 private:
  std::optional<Difference> InValues(const Quantities& key, const std::vector<Measurement>& a,
                                     const std::vector<Measurement>& b) {
    Difference found{
        .quantity = key.quantity, .thing = key.thing, .count_a = a.size(), .count_b = b.size()};
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      found.a = a[i].value;
      found.b = b[i].value;
      const bool same_aux = !IsDigest(key.quantity) || a[i].aux == b[i].aux;
      found.relative = IsDigest(key.quantity) ? 1 : Relative(found.a, found.b);
      const double allowed =
          one_language_ || !key.quantity.ends_with("_norm") ? 0 : kRoundingOfNorms;
      if (IsDigest(key.quantity) ? found.a == found.b && same_aux : found.relative <= allowed) {
        ++values_;
      } else {
        return found;
      }
    }
    if (a.size() == b.size()) return std::nullopt;
    found.relative = 1;
    return found;
  }

  bool one_language_;
  int64_t values_ = 0;
};

}  // namespace

bool Walk::trains_alike() const {
  constexpr Stage kEffects[] = {Stage::kData, Stage::kWeights, Stage::kForward, Stage::kGradient,
                                Stage::kUpdate};
  return std::ranges::none_of(kEffects, [this](Stage stage) { return differing.contains(stage); });
}

Walk WalkTogether(const Measured& a, const Measured& b, int64_t offset) {
  Walk walk;
  StepComparison comparison(a, b);
  int64_t last_equal = -1;
  for (const int64_t step : b.Steps()) {
    const int64_t before = comparison.values();
    std::vector<Difference> found = comparison.InStep(a.At(step + offset), b.At(step));
    if (found.empty() && comparison.values() == before) continue;
    ++walk.steps;
    for (Difference& difference : found) {
      difference.step_b = step;
      difference.step_a = step + offset;
      difference.last_equal = last_equal;
      walk.differing[difference.stage] += static_cast<int64_t>(difference.differing);
      if (walk.first.has_value()) continue;
      walk.values = difference.equal_before;
      walk.first = std::move(difference);
    }
    if (!walk.first.has_value()) {
      walk.values = comparison.values();
      last_equal = step + offset;
    }
  }
  return walk;
}

}  // namespace dlcheck
