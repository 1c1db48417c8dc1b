#include "checks/catalog/examples/schedule_runs.h"

#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/text.h"

namespace dlcheck {

double ScheduledRate(int64_t update) {
  constexpr double kPeak = 0.1;
  constexpr int64_t kWarmup = 5;
  if (update < kWarmup) return kPeak * static_cast<double>(update + 1) / kWarmup;
  const int64_t left = std::max<int64_t>(kScheduledSteps - update, 0);
  return kPeak * static_cast<double>(left) / (kScheduledSteps - kWarmup);
}

Evidence RatesUsed(const std::function<double(int group, int64_t update)>& used, bool leaves_out) {
  RunBuilder run;
  for (int64_t step = 0; step < kScheduledSteps; ++step) {
    const int64_t update = leaves_out ? step - (step + 1) / 5 : step;
    for (int group = 0; group < 2; ++group) {
      const std::string name = StrCat("optimizer#0/group#", group);
      run.Quantity(Quantity::kScheduledRate, "group", name, ScheduledRate(update));
      run.Quantity(Quantity::kLearningRate, "group", name, used(group, update));
    }
    run.Event(Event::kStep, 0, "optimizer", "optimizer#0");
  }
  return PlainOnly(run);
}

}  // namespace dlcheck
