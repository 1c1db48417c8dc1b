// The learning rate as a pure function of the update: what the base rate is multiplied with.
// Nothing is recursive, so a resumed run needs nothing but the number of its update. Knows no
// torch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlcheck::reference {

// Ways of being wrong on purpose.
enum class ScheduleDeviation : uint8_t {
  kNone,
  kOneAhead,        // the rate of the next update
  kHeld,            // the rate changes ten times in all, as if once per epoch
  kLongHorizon,     // ten times the horizon
  kRisesAgain,      // beyond the horizon the shape runs backwards, as a recursion does
  kMainNotShifted,  // the main shape has advanced during the warm-up
  kNeverMoves,      // the base rate throughout
  kOneBehind,       // the rate of the update before
  kTwiceAsFast,     // two updates are counted for each
  kNoWarmup,        // the main shape begins at once
  kNoRestarts,      // the first cosine is the only one
  kNoPower,         // a straight line, whatever the power
};

struct Schedule {
  enum class Shape : uint8_t {
    kConstant,
    kStep,
    kLinear,
    kCosine,
    kOneCycle,
    kCooldown,
    kExponential,
    kMultiStep,
    kPolynomial,
    kCosineRestarts,
    kInverseSqrt,
    kPlateau,
  };
  enum class Warmup : uint8_t { kNone, kFromFirst, kFromZero, kFromFactor };
  enum class CooldownForm : uint8_t { kLinear, kOneMinusSqrt, kCosine };

  Shape shape = Shape::kConstant;
  int64_t horizon = 0;  // updates of the main shape, after the warm-up; see HasHorizon

  // Step: gamma^floor(t / step_size). Exponential: gamma^t. Multi-step: gamma for each of the
  // milestones that is reached. Plateau: see PlateauFactor, which the caller multiplies with.
  int64_t step_size = 1;
  double gamma = 0.1;
  std::vector<int64_t> milestones;

  // Polynomial: (1 - t / horizon)^power.
  double power = 1;

  // Cosine with restarts: the first cosine takes so many updates, each later one `restart_factor`
  // times as many as the one before.
  int64_t restart_period = 1;
  int64_t restart_factor = 1;

  // Linear: from start_factor to end_factor at the horizon.
  double start_factor = 1;
  double end_factor = 0;

  // Cosine, with restarts or without, and cooldown end here.
  double floor = 0;

  // One-cycle: from 1 / div_factor up to 1 at update peak_fraction * horizon - 1, then down to
  // 1 / (div_factor * final_div_factor) at the last update; cosine in both phases.
  double peak_fraction = 0.3;
  double div_factor = 25;
  double final_div_factor = 1e4;

  // Cooldown: 1, and over the last fraction of the horizon down to `floor`.
  double cooldown_fraction = 0.2;
  CooldownForm cooldown_form = CooldownForm::kOneMinusSqrt;

  // With W = warmup_steps: (t + 1) / W, t / W or f + (1 - f) t / W with f = warmup_factor.
  Warmup warmup = Warmup::kNone;
  int64_t warmup_steps = 0;
  double warmup_factor = 1.0 / 3;

  ScheduleDeviation deviation = ScheduleDeviation::kNone;
};

// Whether the shape ends at a horizon.
bool HasHorizon(Schedule::Shape shape);

// Errors: UsageError for lengths that are not positive, fractions outside 0 to 1 and milestones
//         that do not ascend.
void CheckSchedule(const Schedule& schedule);

// The factor of the base rate at `update`, from 0 on. During the warm-up only the warm-up counts;
// the main shape starts at its 0 after it, as SequentialLR([warm-up, main], [W]) does. Beyond the
// horizon it stays where it ended.
//
// REQUIRES: CheckSchedule passes.
// Inverse square root: sqrt(W / (W + t)), with the W of the warm-up or 1.
//
// Source: Loshchilov and Hutter 2017 (cosine); Smith and Topin 2018 (one-cycle); Hägele et al. 2024
//         (cooldown); Vaswani et al. 2017 (inverse square root).
double RateFactor(const Schedule& schedule, int64_t update);

// By the names of recipes; nothing for an unknown name.
std::optional<Schedule::Shape> ShapeFromName(std::string_view name);
std::optional<Schedule::Warmup> WarmupFromName(std::string_view name);
std::optional<Schedule::CooldownForm> CooldownFormFromName(std::string_view name);

// All names that these three know, in the order of their enumerators.
std::vector<std::string> ShapeNames();
std::vector<std::string> WarmupNames();
std::vector<std::string> CooldownFormNames();

}  // namespace dlcheck::reference
