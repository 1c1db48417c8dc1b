#include "checks/catalog/findings/undone_changes.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace dlcheck {
namespace {

bool Differ(double one, double other) {
  return std::abs(one - other) > 1e-9 * std::max(std::abs(one), std::abs(other));
}

struct Move {
  const Occurrence* event;
  size_t scheduler;
};

// The moves of all schedulers of an optimizer in their order.
std::vector<Move> MovesOf(const Schedulers& schedulers, ThingId optimizer) {
  std::vector<Move> moves;
  for (size_t i = 0; i < schedulers.schedulers.size(); ++i) {
    if (schedulers.schedulers[i].optimizer != optimizer) continue;
    for (const Occurrence& event : schedulers.schedulers[i].moves) moves.push_back({&event, i});
  }
  std::ranges::sort(moves, {}, [](const Move& move) { return move.event->order; });
  return moves;
}

// No other move of the scheduler lies between the two.
bool Follows(const Occurrence& move, const Occurrence* before) {
  return before != nullptr && move.aux == before->aux + 1;
}

}  // namespace

std::optional<UndoneChanges> ChangesUndone(const Schedulers& schedulers, size_t lost, size_t winner,
                                           bool is_absolute) {
  const std::vector<Move> moves = MovesOf(schedulers, schedulers.schedulers[lost].optimizer);
  UndoneChanges undone;
  std::optional<double> rate;                                   // after the move before
  const Occurrence* open = nullptr;                             // a change that nobody undid so far
  const Occurrence *last_own = nullptr, *last_other = nullptr;  // of `lost` and of `winner`
  for (const auto& [event, scheduler] : moves) {
    if (scheduler == lost) {
      if (open != nullptr && Follows(*event, last_own)) return std::nullopt;
      last_own = event;
      open = rate.has_value() && Differ(*rate, event->value) ? event : nullptr;
    } else if (scheduler == winner) {
      const bool is_next = Follows(*event, last_other);
      last_other = event;
      if (open == nullptr) {
        rate = event->value;
        continue;
      }
      const Occurrence& change = *std::exchange(open, nullptr);
      const int64_t steps = event->step - change.step;
      // A rate that follows from the number of steps alone is lost only if no step used it.
      if (is_absolute && steps > 0) return std::nullopt;
      // There may be other changes in steps that were not sampled.
      const bool known = steps <= 1 || is_next;
      if (known && Differ(change.value, event->value)) {
        if (undone.changes++ == 0) {
          undone.first_step = change.step;
          undone.from = change.value;
          undone.to = event->value;
        }
        undone.last_step = event->step;
      }
    }
    rate = event->value;
  }
  return undone;
}

}  // namespace dlcheck
