// Parameters: those of Schedule, `count`. Puts out `factors` (count), float64.
#include "reference/optimization/schedules.h"

#include "tests/pytorch_parity/subject/subject.h"

namespace dlcheck::reference {

void Schedules(Case& run) {
  Schedule schedule;
  schedule.shape = ShapeFromName(run.Text("shape", "constant")).value();
  schedule.horizon = run.Integer("horizon", schedule.horizon);
  schedule.step_size = run.Integer("step_size", schedule.step_size);
  schedule.gamma = run.Number("gamma", schedule.gamma);
  schedule.start_factor = run.Number("start_factor", schedule.start_factor);
  schedule.end_factor = run.Number("end_factor", schedule.end_factor);
  schedule.floor = run.Number("floor", schedule.floor);
  schedule.peak_fraction = run.Number("peak_fraction", schedule.peak_fraction);
  schedule.div_factor = run.Number("div_factor", schedule.div_factor);
  schedule.final_div_factor = run.Number("final_div_factor", schedule.final_div_factor);
  schedule.cooldown_fraction = run.Number("cooldown_fraction", schedule.cooldown_fraction);
  schedule.cooldown_form = CooldownFormFromName(run.Text("cooldown_form", "linear")).value();
  schedule.warmup = WarmupFromName(run.Text("warmup", "none")).value();
  schedule.warmup_steps = run.Integer("warmup_steps", schedule.warmup_steps);
  schedule.warmup_factor = run.Number("warmup_factor", schedule.warmup_factor);
  schedule.deviation = run.Named<ScheduleDeviation>(
      "deviation", {{"none", ScheduleDeviation::kNone},
                    {"one_ahead", ScheduleDeviation::kOneAhead},
                    {"held", ScheduleDeviation::kHeld},
                    {"long_horizon", ScheduleDeviation::kLongHorizon},
                    {"rises_again", ScheduleDeviation::kRisesAgain},
                    {"main_not_shifted", ScheduleDeviation::kMainNotShifted}});
  CheckSchedule(schedule);
  std::vector<double> factors;
  for (int64_t t = 0; t < run.Integer("count", 0); ++t) factors.push_back(RateFactor(schedule, t));
  run.Put("factors", torch::tensor(factors, at::kDouble));
}

}  // namespace dlcheck::reference
