// Parameters: those of Schedule, `count`. Puts out `factors` (count), float64.
#include "reference/optimization/schedules.h"

#include "reference/recipe/recipe.h"
#include "reference/training/metrics.h"
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
  schedule.power = run.Number("power", schedule.power);
  schedule.restart_period = run.Integer("restart_period", schedule.restart_period);
  schedule.restart_factor = run.Integer("restart_factor", schedule.restart_factor);
  schedule.milestones = MilestonesOf(run.Text("milestones", ""));
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

// Parameters: those of Plateau. Input: `losses` (N), float64, of evaluations one after the other.
// Puts out `factors` (N), float64: the factor after each.
void Plateaus(Case& run) {
  const Plateau plateau = {run.Number("factor", 0.1), run.Integer("patience", 10),
                           run.Number("threshold", 1e-4), run.Integer("cooldown", 0)};
  const torch::Tensor losses = run.Input("losses");
  MetricTable table;
  std::vector<double> factors;
  for (int64_t i = 0; i < losses.size(0); ++i) {
    table.push_back({i, losses[i].item<double>(), 0});
    factors.push_back(PlateauFactor(table, plateau));
  }
  run.Put("factors", torch::tensor(factors, at::kDouble));
}

}  // namespace dlcheck::reference
