#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/replicas.h"
#include "checks/signals/step_order.h"

namespace dlcheck::distributed {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 4,
                         .low = 1,
                         .high = 1e6,
                         .unit = "steps",
                         .meaning = "fewest with several micro-batches that a finding rests on",
                         .source = "own reasoning: fewer are no habit"};

// Steps in which several backward calls all shared gradients; as many are judged as have several.
std::vector<const Replicas::Forwards*> SharedEachTime(const Replicas::Group& group,
                                                      const StepOrder& order, int64_t& judged) {
  std::vector<const Replicas::Forwards*> found;
  for (const Replicas::Forwards& step : group.forwards) {
    const auto at = std::ranges::find(order.steps, step.step, &StepOrder::Step::step);
    if (at == order.steps.end()) continue;
    const auto calls = static_cast<int>(at->Within(Event::kBackward, 0, at->end()).size());
    // Gradients that are cleared in between, as those of a look ahead, do not add up.
    const bool add_up =
        at->Within(Event::kCleared, at->FirstBackward(), at->LastBackward()).empty();
    if (calls < 2 || step.passes != calls || !add_up) continue;
    ++judged;
    if (step.sharing == calls) found.push_back(&step);
  }
  return found;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Replicas& replicas,
                              const StepOrder& order) {
  Verdict verdict;
  int64_t judged = 0;
  for (const Replicas::Group& group : replicas.groups) {
    const std::vector<const Replicas::Forwards*> found = SharedEachTime(group, order, judged);
    if (static_cast<double>(found.size()) < settings[kSteps]) continue;
    verdict.findings.push_back(
        {.severity = Severity::kNote,
         .message = StrCat("In ", Counted(static_cast<int64_t>(found.size()), "step"), " ranks ",
                           group.name, " share their gradients after each of ",
                           found.front()->passes, " micro-batches, of which the last would do."),
         .places = {},
         .first_step = found.front()->step,
         .last_step = found.back()->step,
         .count = static_cast<int64_t>(found.size()),
         .measured = static_cast<double>(found.front()->passes),
         .bound = 1});
  }
  if (judged == 0) {
    return absl::FailedPreconditionError(
        "no step of several processes took more than one micro-batch through their wrapper");
  }
  verdict.judged = Counted(judged, "step");
  return verdict;
}

// Every `clearing`th step clears its gradients after each pass; 0: none.
Evidence Sharing(int passes, int sharing, int clearing = 0) {
  return PlainOnly(OfRanks({.step = [=](uint16_t, int step) {
    return RankStep{.passes = passes,
                    .sharing = sharing,
                    .clears_between = clearing > 0 && step % clearing == 0};
  }}));
}

}  // namespace

Check MissingNoSync() {
  return {
      .id = "distributed/missing_no_sync",
      .promise = "Gradients that are added up over micro-batches are shared once a step.",
      .why =
          "Each process sends all gradients as often as there are micro-batches, and waits for it.",
      .method =
          "Forward passes of the wrapper that shares gradients, and backward calls, in steps of "
          "several micro-batches: all of them share.",
      .fix =
          "Put all micro-batches of a step but the last into `with model.no_sync():`, forward and "
          "backward.",
      .limits =
          "Always a note: the result is the same up to rounding. Steps in which the wrapper runs "
          "forward more or less often than backward, or in which gradients are cleared between two "
          "backward calls, are not judged.",
      .sources = {"PyTorch: DistributedDataParallel.no_sync"},
      .covers = {"G02"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"the last of four", Expect::kClean, [] { return Sharing(4, 0); }},
                   {"all of four", Expect::kFaulty, [] { return Sharing(4, 4); }},
                   {"three of four", Expect::kClean, [] { return Sharing(4, 2); }},
                   {"all of four, and a look ahead before every other step", Expect::kFaulty,
                    [] { return Sharing(4, 4, 2); }}},
  };
}

}  // namespace dlcheck::distributed
