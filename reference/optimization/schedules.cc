#include "reference/optimization/schedules.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

constexpr double kPi = 3.14159265358979323846;

double Cosine(double start, double end, double progress) {
  return end + (start - end) / 2.0 * (std::cos(kPi * progress) + 1);
}

double OneCycle(const Schedule& schedule, int64_t horizon, int64_t t) {
  const double start = 1 / schedule.div_factor;
  const double end = start / schedule.final_div_factor;
  const double peak = schedule.peak_fraction * static_cast<double>(horizon) - 1;
  const auto last = static_cast<double>(horizon - 1);
  const double at = std::min(static_cast<double>(t), last);
  if (at <= peak && peak > 0) return Cosine(start, 1, at / peak);
  const double first = std::max(peak, 0.0);
  return last > first ? Cosine(1, end, (at - first) / (last - first)) : end;
}

double Cooldown(const Schedule& schedule, int64_t horizon, int64_t t) {
  const auto length = std::llround(schedule.cooldown_fraction * static_cast<double>(horizon));
  const int64_t first = horizon - length;
  if (t >= horizon) return schedule.floor;
  if (t <= first) return 1;
  const double progress = static_cast<double>(t - first) / static_cast<double>(length);
  double left = 0;  // of the way from 1 to the floor
  switch (schedule.cooldown_form) {
    case Schedule::CooldownForm::kLinear:
      left = 1 - progress;
      break;
    case Schedule::CooldownForm::kOneMinusSqrt:
      left = 1 - std::sqrt(progress);
      break;
    case Schedule::CooldownForm::kCosine:
      left = (1 + std::cos(kPi * progress)) / 2;
      break;
  }
  return schedule.floor + (1 - schedule.floor) * left;
}

double Restarted(const Schedule& schedule, int64_t t) {
  int64_t period = schedule.restart_period;
  while (t >= period) {
    t -= period;
    period *= schedule.restart_factor;
  }
  return Cosine(1, schedule.floor, static_cast<double>(t) / static_cast<double>(period));
}

double MultiStep(const Schedule& schedule, int64_t t) {
  const auto& milestones = schedule.milestones;
  const auto reached = std::upper_bound(milestones.begin(), milestones.end(), t);
  return std::pow(schedule.gamma, static_cast<double>(reached - milestones.begin()));
}

double InverseSqrt(const Schedule& schedule, int64_t t) {
  const bool is_warmed = schedule.warmup != Schedule::Warmup::kNone;
  const auto first = static_cast<double>(is_warmed ? schedule.warmup_steps : 1);
  return std::sqrt(first / (first + static_cast<double>(t)));
}

double MainFactor(const Schedule& schedule, int64_t horizon, int64_t t) {
  const auto until = static_cast<double>(std::min(t, horizon));
  const auto length = static_cast<double>(horizon);
  switch (schedule.shape) {
    case Schedule::Shape::kConstant:
    case Schedule::Shape::kPlateau:
      return 1;
    case Schedule::Shape::kStep:
      return std::pow(schedule.gamma, static_cast<double>(t / schedule.step_size));
    case Schedule::Shape::kLinear:
      return schedule.start_factor + (schedule.end_factor - schedule.start_factor) * until / length;
    case Schedule::Shape::kCosine:
      return schedule.floor + (1 - schedule.floor) * (1 + std::cos(kPi * until / length)) / 2;
    case Schedule::Shape::kOneCycle:
      return OneCycle(schedule, horizon, t);
    case Schedule::Shape::kCooldown:
      return Cooldown(schedule, horizon, t);
    case Schedule::Shape::kExponential:
      return std::pow(schedule.gamma, static_cast<double>(t));
    case Schedule::Shape::kMultiStep:
      return MultiStep(schedule, t);
    case Schedule::Shape::kPolynomial:
      return std::pow(1 - until / length, schedule.power);
    case Schedule::Shape::kCosineRestarts:
      return Restarted(schedule, t);
    case Schedule::Shape::kInverseSqrt:
      return InverseSqrt(schedule, t);
  }
  return 1;
}

double WarmupFactor(const Schedule& schedule, int64_t t) {
  const auto length = static_cast<double>(schedule.warmup_steps);
  const auto at = static_cast<double>(t);
  switch (schedule.warmup) {
    case Schedule::Warmup::kNone:
      return 1;
    case Schedule::Warmup::kFromFirst:
      return (at + 1) / length;
    case Schedule::Warmup::kFromZero:
      return at / length;
    case Schedule::Warmup::kFromFactor:
      return schedule.warmup_factor + (1 - schedule.warmup_factor) * at / length;
  }
  return 1;
}

// `t` walked forth and back over 0 .. horizon.
int64_t Reflected(int64_t t, int64_t horizon) {
  const int64_t within = t % (2 * horizon);
  return std::min(within, 2 * horizon - within);
}

// The schedule whose shape is followed in its place.
Schedule Deviating(Schedule schedule) {
  switch (schedule.deviation) {
    case ScheduleDeviation::kLongHorizon:
      schedule.horizon *= 10;
      break;
    case ScheduleDeviation::kNoWarmup:
      schedule.warmup = Schedule::Warmup::kNone;
      break;
    case ScheduleDeviation::kNoRestarts:
      schedule.shape = Schedule::Shape::kCosine;
      schedule.horizon = schedule.restart_period;
      break;
    case ScheduleDeviation::kNoPower:
      schedule.power = 1;
      break;
    default:
      break;
  }
  return schedule;
}

// The update whose rate is taken.
int64_t UpdateFor(ScheduleDeviation deviation, int64_t update, int64_t horizon) {
  switch (deviation) {
    case ScheduleDeviation::kOneAhead:
      return update + 1;
    case ScheduleDeviation::kOneBehind:
      return std::max<int64_t>(update - 1, 0);
    case ScheduleDeviation::kTwiceAsFast:
      return 2 * update;
    case ScheduleDeviation::kHeld:
      return update - update % std::max<int64_t>(horizon / 10, 1);
    default:
      return update;
  }
}

void Need(bool holds, const char* what) {
  if (!holds) throw UsageError(std::string("the schedule's ") + what);
}

bool IsFraction(double value) { return value >= 0 && value <= 1; }

constexpr std::array<std::string_view, 12> kShapes = {
    "constant",    "step",       "linear",     "cosine",          "one_cycle",    "cooldown",
    "exponential", "multi_step", "polynomial", "cosine_restarts", "inverse_sqrt", "plateau"};
constexpr std::array<std::string_view, 4> kWarmups = {"none", "from_first", "from_zero",
                                                      "from_factor"};
constexpr std::array<std::string_view, 3> kForms = {"linear", "one_minus_sqrt", "cosine"};

template <typename Enum, typename Names>
std::optional<Enum> FromName(const Names& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

template <typename Names>
std::vector<std::string> AsList(const Names& names) {
  return {names.begin(), names.end()};
}

}  // namespace

bool HasHorizon(Schedule::Shape shape) {
  switch (shape) {
    case Schedule::Shape::kLinear:
    case Schedule::Shape::kCosine:
    case Schedule::Shape::kOneCycle:
    case Schedule::Shape::kCooldown:
    case Schedule::Shape::kPolynomial:
      return true;
    default:
      return false;
  }
}

void CheckSchedule(const Schedule& schedule) {
  Need(!HasHorizon(schedule.shape) || schedule.horizon > 0, "horizon must be positive");
  Need(schedule.step_size > 0, "step size must be positive");
  Need(schedule.restart_period > 0 && schedule.restart_factor > 0, "periods must be positive");
  Need(std::is_sorted(schedule.milestones.begin(), schedule.milestones.end()),
       "milestones must ascend");
  Need(schedule.warmup == Schedule::Warmup::kNone || schedule.warmup_steps > 0,
       "warm-up needs a positive number of steps");
  Need(IsFraction(schedule.floor), "floor must lie between 0 and 1");
  Need(IsFraction(schedule.peak_fraction), "peak fraction must lie between 0 and 1");
  Need(IsFraction(schedule.cooldown_fraction), "cooldown fraction must lie between 0 and 1");
  Need(schedule.div_factor > 0 && schedule.final_div_factor > 0, "divisors must be positive");
}

double RateFactor(const Schedule& asked, int64_t update) {
  const ScheduleDeviation deviation = asked.deviation;
  if (deviation == ScheduleDeviation::kNeverMoves) return 1;
  const Schedule schedule = Deviating(asked);
  const int64_t horizon = schedule.horizon;
  int64_t t = UpdateFor(deviation, update, horizon);
  const int64_t warmup_steps =
      schedule.warmup == Schedule::Warmup::kNone ? 0 : schedule.warmup_steps;
  if (t < warmup_steps) return WarmupFactor(schedule, t);
  if (deviation != ScheduleDeviation::kMainNotShifted) t -= warmup_steps;
  if (deviation == ScheduleDeviation::kRisesAgain && horizon > 0) t = Reflected(t, horizon);
  return MainFactor(schedule, horizon, t);
}

std::optional<Schedule::Shape> ShapeFromName(std::string_view name) {
  return FromName<Schedule::Shape>(kShapes, name);
}

std::optional<Schedule::Warmup> WarmupFromName(std::string_view name) {
  return FromName<Schedule::Warmup>(kWarmups, name);
}

std::optional<Schedule::CooldownForm> CooldownFormFromName(std::string_view name) {
  return FromName<Schedule::CooldownForm>(kForms, name);
}

std::vector<std::string> ShapeNames() { return AsList(kShapes); }
std::vector<std::string> WarmupNames() { return AsList(kWarmups); }
std::vector<std::string> CooldownFormNames() { return AsList(kForms); }

}  // namespace dlcheck::reference
