#include "checks/signals/schedule/schedulers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

class Reading {
 public:
  explicit Reading(const Trace& trace) : trace_(trace) {}

  void Add(const Occurrence& event) {
    switch (event.event) {
      case Event::kStep:
      case Event::kSkipped:
        counted_ += Whole(event.count);
        result_.calls = std::max(result_.calls, event.last_step + 1);
        if (!event.gap) steps_of_.insert_or_assign(event.step, event.thing);
        break;
      case Event::kBackward:
        result_.backward_calls += Whole(event.count);
        break;
      case Event::kQuiet:
        quiet_ = true;
        break;
      case Event::kLoaded:
        result_.state_loaded = result_.state_loaded || MayResume(event.thing);
        break;
      case Event::kScheduler:
        AddBuilt(event);
        break;
      case Event::kSchedule:
        AddMove(event);
        break;
      default:
        break;
    }
  }

  Schedulers Finish(bool finished) {
    result_.finished = finished && !quiet_;
    for (const auto& [step, optimizer] : steps_of_) ++result_.sampled[optimizer];
    // The last gap reaches beyond the last call; a call that was left out may be counted twice.
    result_.calls = std::min(result_.calls, counted_);
    const auto moving = std::ranges::count_if(
        result_.schedulers, [](const auto& scheduler) { return !scheduler.moves.empty(); });
    for (size_t i = 0; i < result_.schedulers.size(); ++i) {
      Schedulers::Scheduler& scheduler = result_.schedulers[i];
      scheduler.calls_since_built = result_.calls - built_at_[i];
      if (scheduler.moves.empty()) {
        scheduler.most = result_.unassigned_moves;
        continue;
      }
      const Occurrence& last = scheduler.moves.back();
      scheduler.fewest =
          std::max(static_cast<int64_t>(last.aux), static_cast<int64_t>(scheduler.moves.size()));
      scheduler.most = scheduler.fewest + MovesInGapsAfter(last.order);
      if (moving == 1) scheduler.fewest = scheduler.most;
    }
    return std::move(result_);
  }

 private:
  Schedulers::Scheduler& Of(const Occurrence& event) {
    const auto [place, fresh] = places_.try_emplace(event.thing, result_.schedulers.size());
    if (fresh) {
      Schedulers::Scheduler scheduler{
          .name = trace_.thing(event.thing).name, .optimizer_name = "", .moves = {}};
      scheduler.optimizer = event.owner;
      if (event.owner != 0) {
        scheduler.optimizer_name = trace_.Display(event.owner);
        StrAppend(&scheduler.name, " of ", scheduler.optimizer_name);
      }
      result_.schedulers.push_back(std::move(scheduler));
      built_at_.push_back(event.step);
    }
    return result_.schedulers[place->second];
  }

  // Weights alone are where a fine-tuning begins, and a file may hold data.
  bool MayResume(ThingId thing) const {
    if (thing == 0) return true;
    const std::string& kind = trace_.thing(thing).kind;
    if (kind == "file") return trace_.Attribute(thing, "contents").empty();
    return kind == "optimizer" || kind == "scheduler";
  }

  void AddBuilt(const Occurrence& event) {
    Schedulers::Scheduler& scheduler = Of(event);
    scheduler.built_seen = true;
    const bool no_end = event.aux == 2;
    (no_end ? scheduler.first_change : scheduler.horizon) = event.value;
    scheduler.rises_again = event.aux == 1;
    scheduler.restarts = event.aux == 3;
    scheduler.milestones = event.aux == 4;
    scheduler.step_depends = !trace_.Attribute(event.thing, "step_depends").empty();
  }

  void AddMove(const Occurrence& event) {
    if (event.gap) {
      result_.unassigned_moves += Whole(event.count);
      gaps_.push_back(event);
      return;
    }
    Schedulers::Scheduler& scheduler = Of(event);
    if (scheduler.moves.empty()) scheduler.site = event.site;
    scheduler.moves.push_back(event);
  }

  int64_t MovesInGapsAfter(uint64_t order) const {
    int64_t moves = 0;
    for (const Occurrence& gap : gaps_) {
      if (gap.order > order) moves += Whole(gap.count);
    }
    return moves;
  }

  const Trace& trace_;
  Schedulers result_;
  std::map<ThingId, size_t> places_;
  std::map<int64_t, ThingId> steps_of_;  // a step that was left out may be written twice
  std::vector<int64_t> built_at_;
  int64_t counted_ = 0;
  bool quiet_ = false;
  std::vector<Occurrence> gaps_;
};

std::vector<double> BatchesInPass(const Trace& trace) {
  std::vector<double> found;
  for (const ThingId loader : trace.ThingsOfKind("loader")) {
    double samples = 0, batch_size = 0;
    const bool known =
        absl::SimpleAtod(std::string(trace.Attribute(loader, "samples")), &samples) &&
        absl::SimpleAtod(std::string(trace.Attribute(loader, "batch_size")), &batch_size);
    if (known && samples > 0 && batch_size > 0) found.push_back(std::ceil(samples / batch_size));
  }
  return found;
}

}  // namespace

absl::StatusOr<Schedulers> Schedulers::From(const Run& run) {
  Reading reading(run.trace);
  for (const Occurrence& event : FirstProcess(run.trace.Events())) reading.Add(event);
  Schedulers schedulers = reading.Finish(run.ending.how == Ending::How::kFinished);
  if (schedulers.sampled.empty()) return absl::NotFoundError("no optimizer step was observed");
  if (schedulers.schedulers.empty() && schedulers.unassigned_moves == 0) {
    return absl::FailedPreconditionError("no learning-rate scheduler was observed");
  }
  schedulers.batches_in_pass = BatchesInPass(run.trace);
  return schedulers;
}

}  // namespace dlcheck
