#include "checks/signals/schedule/schedule_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "checks/signals/run/first_process.h"
#include "checks/signals/run/not_told.h"

namespace dlcheck {
namespace {

using Group = ScheduleFit::Group;
using Kind = ScheduleFit::Kind;

struct Point {
  int64_t step;
  double scheduled, used;
};

// What one group was given and what it used, at the steps where both are known.
class Rates {
 public:
  Rates(const Trace& trace, ThingId group) {
    std::map<int64_t, double> scheduled;
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kScheduledRate, group))) {
      scheduled[sample.step] = sample.value;
    }
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kLearningRate, group))) {
      const auto found = scheduled.find(sample.step);
      if (found == scheduled.end()) continue;
      points_.push_back({sample.step, found->second, sample.value});
      peak_ = std::max(peak_, std::abs(found->second));
    }
    FindLevels();
  }

  const std::vector<Point>& points() const { return points_; }
  bool Same(double a, double b) const { return std::abs(a - b) <= ScheduleFit::kTolerance * peak_; }
  bool ScheduleMoves() const {
    return std::any_of(points_.begin(), points_.end(), [&](const Point& point) {
      return !Same(point.scheduled, points_.front().scheduled);
    });
  }
  bool Moves() const {
    return std::any_of(points_.begin(), points_.end(),
                       [&](const Point& point) { return !Same(point.used, points_.front().used); });
  }

  // Every step used what the schedule gives `shift` updates later. A step that was skipped repeats
  // its rate, so the next but one that differs is right too.
  bool IsShiftedBy(int shift) const {
    bool any = false;
    for (size_t i = 0; i < points_.size(); ++i) {
      const std::optional<double> later = ScheduledAt(static_cast<int64_t>(i) + shift);
      const std::optional<double> next = LevelAt(level_of_[i] + shift);
      const double used = points_[i].used;
      const bool fits = (later && Same(used, *later)) || (next && Same(used, *next));
      // Beyond both ends it is not known what the schedule gives.
      if (!fits && next) return false;
      any = any || fits;
    }
    return any;
  }

  // The factor by which every rate used differs from what was given, if there is one.
  std::optional<double> Factor() const {
    const auto top =
        std::max_element(points_.begin(), points_.end(),
                         [](const Point& a, const Point& b) { return a.scheduled < b.scheduled; });
    const double factor = top->used / top->scheduled;
    if (!std::isfinite(factor)) return std::nullopt;
    const double allowed = std::max(1.0, std::abs(factor)) * ScheduleFit::kTolerance * peak_;
    for (const Point& point : points_) {
      if (!(std::abs(point.used - factor * point.scheduled) <= allowed)) return std::nullopt;
    }
    return factor;
  }

  // The longest of the stretches with one rate, if each begins with what was given then and there
  // are several.
  std::optional<int64_t> Stretch() const {
    int64_t longest = 0, length = 0, stretches = 0;
    for (size_t i = 0; i < points_.size(); ++i) {
      const bool begins = i == 0 || !Same(points_[i].used, points_[i - 1].used);
      if (begins && !Same(points_[i].used, points_[i].scheduled)) return std::nullopt;
      stretches += begins ? 1 : 0;
      length = begins ? 1 : length + 1;
      longest = std::max(longest, length);
    }
    return stretches > 1 ? std::optional(longest) : std::nullopt;
  }

 private:
  // Steps in a row with one scheduled rate are one level.
  void FindLevels() {
    for (const Point& point : points_) {
      if (levels_.empty() || !Same(levels_.back(), point.scheduled)) {
        levels_.push_back(point.scheduled);
      }
      level_of_.push_back(static_cast<int64_t>(levels_.size()) - 1);
    }
  }
  std::optional<double> ScheduledAt(int64_t index) const {
    if (index < 0 || index >= static_cast<int64_t>(points_.size())) return std::nullopt;
    return points_[static_cast<size_t>(index)].scheduled;
  }
  std::optional<double> LevelAt(int64_t index) const {
    if (index < 0 || index >= static_cast<int64_t>(levels_.size())) return std::nullopt;
    return levels_[static_cast<size_t>(index)];
  }

  std::vector<Point> points_;
  std::vector<double> levels_;
  std::vector<int64_t> level_of_;
  double peak_ = 0;
};

void AddDifferences(const Rates& rates, Group& group) {
  for (const Point& point : rates.points()) {
    if (rates.Same(point.used, point.scheduled)) continue;
    if (group.differing++ == 0) group.first_step = point.step;
    group.last_step = point.step;
    const bool most = group.differing == 1 || std::abs(point.used - point.scheduled) >
                                                  std::abs(group.used - group.scheduled);
    if (!most) continue;
    group.step = point.step;
    group.used = point.used;
    group.scheduled = point.scheduled;
  }
}

Kind KindOf(const Rates& rates, Group& group) {
  if (group.differing == 0) return Kind::kFits;
  for (const int shift : {1, -1, 2, -2}) {
    if (!rates.IsShiftedBy(shift)) continue;
    group.shift = shift;
    return Kind::kShifted;
  }
  if (const std::optional<double> factor = rates.Factor()) {
    group.factor = *factor;
    return Kind::kScaled;
  }
  if (const std::optional<int64_t> stretch = rates.Stretch()) {
    group.stretch = *stretch;
    return Kind::kHeld;
  }
  return Kind::kOther;
}

}  // namespace

absl::StatusOr<ScheduleFit> ScheduleFit::From(const Run& run) {
  ScheduleFit fit;
  std::map<ThingId, bool> moves;  // of each optimizer: the rate of some group does
  std::vector<ThingId> owners;
  bool seen = false;
  for (const ThingId id : run.trace.ThingsWith(Quantity::kScheduledRate)) {
    const Rates rates(run.trace, id);
    if (rates.points().empty()) continue;
    seen = true;
    if (!rates.ScheduleMoves()) continue;
    Group group;
    group.name = run.trace.thing(id).name;
    group.judged = static_cast<int64_t>(rates.points().size());
    group.moves = rates.Moves();
    AddDifferences(rates, group);
    group.kind = KindOf(rates, group);
    owners.push_back(run.trace.Series(Quantity::kScheduledRate, id).front().owner);
    moves[owners.back()] = moves[owners.back()] || group.moves;
    fit.groups.push_back(std::move(group));
  }
  if (!seen) {
    return absl::NotFoundError(kNotTold);
  }
  if (fit.groups.empty()) {
    return absl::FailedPreconditionError("no scheduler changes a learning rate");
  }
  for (size_t i = 0; i < fit.groups.size(); ++i) {
    Group& group = fit.groups[i];
    if (group.kind == Kind::kOther && !group.moves && moves[owners[i]]) {
      group.kind = Kind::kUngoverned;
    }
  }
  return fit;
}

}  // namespace dlcheck
