#include "reference/baseline/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>

namespace dlcheck::reference {
namespace {

constexpr size_t kFewest = 10;            // late steps
constexpr int kResamples = 2000;          // of the bootstrap
constexpr double kSurely = 0.975;         // one side of an interval of 95 %
constexpr double kShare = 0.8;            // of what a baseline learned
constexpr size_t kPaceParts = 5;          // of the steps; the last two tell the pace
constexpr double kConstantMargin = 0.01;  // relative: a tie with the constant is none of rounding

size_t FirstLate(size_t steps) { return steps - std::min(steps, std::max(steps / 10, kFewest)); }

double MeanOf(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

std::string Number(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", number);
  return text;
}

// Not finite, or within the margin and not surely below it.
bool IsAtConstant(const std::vector<double>& losses, double constant) {
  const Difference over = LateDifference(losses, std::vector<double>(losses.size(), constant));
  return !std::isfinite(over.mean) || (over.mean > -kConstantMargin * constant && over.high > 0);
}

// With every seed.
bool Learns(const BaselineLosses& baseline, double constant) {
  return std::ranges::none_of(baseline.losses, [&](const std::vector<double>& losses) {
    return IsAtConstant(losses, constant);
  });
}

std::string Lower(const Difference& ahead) {
  return ": its late loss is " + Number(ahead.mean) + " lower (" + Number(ahead.low) + " to " +
         Number(ahead.high) + ").";
}

// Whether the loss comes down by `gap` in as many steps again, at the pace of the last two fifths.
bool CatchesUp(const std::vector<double>& losses, double gap) {
  const auto part = static_cast<std::ptrdiff_t>(losses.size() / kPaceParts);
  if (part < static_cast<std::ptrdiff_t>(kFewest)) return false;
  const double before = MeanOf({losses.end() - 2 * part, losses.end() - part});
  const double last = MeanOf({losses.end() - part, losses.end()});
  return (before - last) * static_cast<double>(kPaceParts) >= gap;
}

// How far the baseline is ahead with the seed that is least ahead; nothing if it is not.
std::optional<Difference> AheadOf(const std::vector<double>& losses, double constant,
                                  const BaselineLosses& baseline) {
  const double learned = constant - LateLoss(losses);
  std::optional<Difference> least;
  for (const std::vector<double>& other : baseline.losses) {
    const Difference ahead = LateDifference(losses, other);
    const bool is_ahead = ahead.low > 0 && learned < kShare * (constant - LateLoss(other));
    if (!is_ahead) return std::nullopt;  // nor is a baseline that diverged
    if (!least || ahead.low < least->low) least = ahead;
  }
  return least;
}

}  // namespace

double LateLoss(const std::vector<double>& losses) {
  return MeanOf(
      {losses.begin() + static_cast<std::ptrdiff_t>(FirstLate(losses.size())), losses.end()});
}

Difference LateDifference(const std::vector<double>& one, const std::vector<double>& other) {
  std::vector<double> differences;
  for (size_t i = FirstLate(one.size()); i < one.size() && i < other.size(); ++i) {
    differences.push_back(one[i] - other[i]);
  }
  std::mt19937_64 random(1);
  std::vector<double> means;
  for (int i = 0; i < kResamples; ++i) {
    double sum = 0;
    for (size_t j = 0; j < differences.size(); ++j) {
      sum += differences[random() % differences.size()];
    }
    means.push_back(sum / static_cast<double>(differences.size()));
  }
  std::sort(means.begin(), means.end());
  const auto last = static_cast<size_t>(kSurely * kResamples);
  return {MeanOf(differences), means[kResamples - last], means[last]};
}

double MiddleLate(const BaselineLosses& baseline) {
  std::vector<double> late;
  for (const std::vector<double>& losses : baseline.losses) {
    const double loss = LateLoss(losses);
    late.push_back(std::isfinite(loss) ? loss : INFINITY);
  }
  std::ranges::sort(late);
  return late[late.size() / 2];
}

Weak WeakHalf(double constant, const BaselineLosses& baseline, const BaselineLosses& like) {
  const double learned = constant - MiddleLate(baseline);
  return constant - MiddleLate(like) < kShare * learned ? Weak::kOptimizer : Weak::kModel;
}

Verdict CompareAlone(double constant, const std::vector<BaselineLosses>& baselines) {
  using Kind = Verdict::Kind;
  const BaselineLosses* best = nullptr;
  for (const BaselineLosses& baseline : baselines) {
    if (!Learns(baseline, constant)) continue;
    if (best == nullptr || MiddleLate(baseline) < MiddleLate(*best)) best = &baseline;
  }
  if (best == nullptr) {
    return {
        Kind::kNobodyLearns,
        "No baseline learns: the inputs say nothing about the targets, or the steps are too few.",
        std::nullopt};
  }
  return {Kind::kLearnable,
          "The baseline " + best->name + " learns most: its late loss is " +
              Number(MiddleLate(*best)) + ", and a constant prediction has " + Number(constant) +
              ".",
          best->name};
}

Verdict Compare(const std::vector<double>& losses, double constant,
                const std::vector<BaselineLosses>& baselines) {
  using Kind = Verdict::Kind;
  const double late = LateLoss(losses);
  if (IsAtConstant(losses, constant)) {
    if (std::ranges::none_of(baselines, [&](const BaselineLosses& baseline) {
          return Learns(baseline, constant);
        })) {
      return {
          Kind::kNobodyLearns,
          "Neither the program nor a baseline learns: the inputs say nothing about the targets, or "
          "the steps are too few.",
          std::nullopt};
    }
    return {Kind::kNotBetterThanConstant,
            "The program learns nothing: its late loss is " + Number(late) +
                ", and a constant prediction has " + Number(constant) + ".",
            "constant"};
  }
  const BaselineLosses *first = nullptr, *caught = nullptr;
  Difference first_ahead{};
  for (size_t i = 0; i < baselines.size(); ++i) {
    const std::optional<Difference> ahead = AheadOf(losses, constant, baselines[i]);
    if (!ahead) continue;
    if (CatchesUp(losses, ahead->mean)) {
      caught = &baselines[i];
      continue;
    }
    if (i == 0) {
      return {Kind::kNotBetterThanLinear,
              "The plainest baseline, " + baselines[i].name + ", learns more" + Lower(*ahead),
              baselines[i].name};
    }
    if (first == nullptr || ahead->mean > first_ahead.mean) {
      first = &baselines[i];
      first_ahead = *ahead;
    }
  }
  if (first == nullptr && caught != nullptr) {
    return {Kind::kStillLearning,
            "The program is still learning. The baseline " + caught->name +
                " learns faster, but the program would catch up within twice the steps.",
            caught->name};
  }
  if (first == nullptr) {
    return {Kind::kAsGood, "No baseline learns more than the program.", std::nullopt};
  }
  return {Kind::kWeaker, "The baseline " + first->name + " learns more" + Lower(first_ahead),
          first->name};
}

}  // namespace dlcheck::reference
