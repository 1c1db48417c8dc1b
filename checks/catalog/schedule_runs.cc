#include "checks/catalog/schedule_runs.h"

#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/engine/text.h"

namespace dlcheck {

double ScheduledRate(int64_t step) {
  constexpr double kPeak = 0.1;
  constexpr int64_t kWarmup = 5;
  if (step < kWarmup) return kPeak * static_cast<double>(step + 1) / kWarmup;
  const int64_t left = std::max<int64_t>(kScheduledSteps - step, 0);
  return kPeak * static_cast<double>(left) / (kScheduledSteps - kWarmup);
}

Evidence RatesUsed(const std::function<double(int group, int64_t step)>& used) {
  RunBuilder run;
  for (int64_t step = 0; step < kScheduledSteps; ++step) {
    for (int group = 0; group < 2; ++group) {
      const std::string name = StrCat("optimizer#0/group#", group);
      run.Quantity(Quantity::kScheduledRate, "group", name, ScheduledRate(step));
      run.Quantity(Quantity::kLearningRate, "group", name, used(group, step));
    }
    run.Event(Event::kStep, 0, "optimizer", "optimizer#0");
  }
  return PlainOnly(run);
}

}  // namespace dlcheck
