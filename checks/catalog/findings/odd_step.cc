#include "checks/catalog/findings/odd_step.h"

#include <cmath>
#include <map>
#include <vector>

#include "checks/engine/text.h"
#include "checks/signals/run/statistics.h"

namespace dlcheck {
namespace {

constexpr size_t kBefore = 16;

// How many times the median of the values before it; 0 if there is none at this step.
double TimesTheUsual(const std::map<int64_t, double>& values, int64_t step) {
  const auto here = values.find(step);
  if (here == values.end()) return 0;
  std::vector<double> before;
  for (auto at = here; at != values.begin() && before.size() < kBefore;) {
    before.push_back((--at)->second);
  }
  if (before.empty()) return 0;
  const double usual = Median(std::move(before));
  return usual > 0 ? here->second / usual : 0;
}

// Of all parameters together, by sampled step.
std::map<int64_t, double> NormsOf(const Gradients& gradients) {
  std::map<int64_t, double> norms;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    for (const Sample& sample : parameter.consumed)
      norms[sample.step] += sample.value * sample.value;
  }
  for (auto& [step, norm] : norms) norm = std::sqrt(norm);
  return norms;
}

std::string Sentence(const char* what, int64_t step, const std::map<int64_t, double>& values) {
  const double times = TimesTheUsual(values, step);
  if (!(times >= kOdd)) return "";
  return StrCat(" The ", what, " of step ", step, " was ", Short(values.at(step)), ", ",
                WithCommas(static_cast<int64_t>(std::min(times, 1e15))), " times the usual one.");
}

}  // namespace

std::string OddRecordOf(int64_t step, const IfSeen<LearningRates>& rates,
                        const IfSeen<Gradients>& gradients) {
  std::string text;
  if (rates) {
    for (const auto& [ordinal, optimizer] : rates->optimizers) {
      text += Sentence("learning rate", step, optimizer.highest);
    }
  }
  if (gradients) text += Sentence("gradient norm", step, NormsOf(*gradients));
  return text;
}

}  // namespace dlcheck
