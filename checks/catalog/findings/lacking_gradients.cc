#include "checks/catalog/findings/lacking_gradients.h"

#include <algorithm>
#include <set>
#include <string>

#include "checks/engine/text.h"

namespace dlcheck {
namespace {

using Steps = std::set<int64_t>;

// How many sampled steps had a gradient, if all of them were zero; 0 if one was not. Steps
// `without_loss` do not count.
int64_t ZeroGradients(const Gradients::Parameter& parameter, const Steps& without_loss) {
  int64_t zero = 0;
  for (const Sample& sample : parameter.consumed) {
    if (sample.value != 0) return 0;
    if (!without_loss.contains(sample.step)) ++zero;
  }
  return zero;
}

bool StaysZero(const Gradients::Parameter& parameter) {
  return !parameter.weight.empty() &&
         std::ranges::all_of(parameter.weight, [](const Sample& s) { return s.value == 0; });
}

Steps StepsWithoutLoss(const LossCurve* loss) {
  Steps steps;
  if (loss == nullptr) return steps;
  for (const LossCurve::Point& point : loss->points) {
    if (point.loss == 0) steps.insert(point.step);
  }
  return steps;
}

// Names of the parameters with a gradient that is not zero at some step.
std::set<std::string> Reached(const Gradients& gradients) {
  std::set<std::string> reached;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    for (const Sample& sample : parameter.consumed) {
      if (sample.value == 0) continue;
      reached.insert(parameter.name);
      break;
    }
  }
  return reached;
}

// A bias whose weight has a gradient is on the way to the loss: it cancels exactly, as that of a
// critic does in the difference of two of its outputs. A weight may be parametrized.
bool Cancels(const std::string& name, const std::set<std::string>& reached) {
  constexpr std::string_view kBias = "bias";
  if (!name.ends_with(kBias)) return false;
  const std::string layer = name.substr(0, name.size() - kBias.size());
  const auto is_weight = [&layer](const std::string& other) {
    return other.starts_with(layer) &&
           (other.substr(layer.size()).starts_with("weight") ||
            other.substr(layer.size()).starts_with("parametrizations.weight"));
  };
  return std::ranges::any_of(reached, is_weight);
}

bool IsConstant(const LossCurve& loss) {
  return std::ranges::all_of(loss.points, [&](const LossCurve::Point& point) {
    return point.loss == loss.points.front().loss;
  });
}

}  // namespace

Lacking LackingGradients(const Gradients& gradients, double enough, const LossCurve* loss) {
  const std::set<std::string> reached = Reached(gradients);
  // Where the loss is zero, as that of a margin which every sample keeps, a gradient of zero is
  // right; but not where no parameter has another gradient at any step.
  const Steps without_loss = reached.empty() ? Steps() : StepsWithoutLoss(loss);
  Lacking lacking;
  bool others = false;  // some such matrix has other numbers
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    if (parameter.optimizer.empty() || !parameter.requires_grad) continue;
    if (static_cast<double>(parameter.optimizer_steps) < enough) continue;
    const bool all_zero = static_cast<double>(ZeroGradients(parameter, without_loss)) >= enough;
    if (parameter.orphan && !all_zero) {
      if (parameter.consumed.empty()) lacking.strangers.push_back(parameter.name);
      continue;
    }
    ++lacking.judged;
    if (parameter.consumed.empty()) {
      (parameter.module_ran ? lacking.absent : lacking.unused).push_back(parameter.name);
      lacking.cut_off = lacking.cut_off || (parameter.module_ran && parameter.first_to_run);
    } else if (all_zero && !Cancels(parameter.name, reached)) {
      (parameter.is_matrix() ? lacking.zero_matrices : lacking.zero_vectors)
          .push_back(parameter.name);
      others = others || (parameter.is_matrix() && !StaysZero(parameter));
    }
  }
  lacking.zero_weights = !others && lacking.zero_matrices.size() > 1;
  return lacking;
}

std::string ReasonOfZeros(const Lacking& lacking, const LossCurve* loss) {
  if (lacking.zero_weights) {
    return " Their weights are zero, too: of two factors that are both zero, neither gets a "
           "gradient.";
  }
  if (lacking.all_zero() && loss != nullptr && !loss->points.empty() && IsConstant(*loss)) {
    return StrCat(" The loss is ", Short(loss->points.front().loss), " in every step.");
  }
  return "";
}

}  // namespace dlcheck
