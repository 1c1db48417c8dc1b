#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/distributed/replicas.h"
#include "checks/signals/run/step_order.h"

namespace dlcheck::distributed {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 4,
                         .low = 1,
                         .high = 1e6,
                         .unit = "steps",
                         .meaning = "fewest steps with several micro-batches for a finding",
                         .source = "own reasoning: fewer steps are not a pattern"};

// Steps in which several backward calls all synchronized gradients; `judged` counts those with
// several.
std::vector<const Replicas::Forwards*> SharedEachTime(const Replicas::Group& group,
                                                      const StepOrder& order, int64_t& judged) {
  std::vector<const Replicas::Forwards*> found;
  for (const Replicas::Forwards& step : group.forwards) {
    const auto at = std::ranges::find(order.steps, step.step, &StepOrder::Step::step);
    if (at == order.steps.end()) continue;
    const auto calls = static_cast<int>(at->Within(Event::kBackward, 0, at->end()).size());
    // Gradients that are zeroed in between, as in a lookahead, do not accumulate.
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
         .message = StrCat("In ", Counted(static_cast<int64_t>(found.size()), "step"), ", ranks ",
                           group.name, " synchronized gradients after each of ",
                           found.front()->passes, " micro-batches; once after the last is enough."),
         .places = {},
         .first_step = found.front()->step,
         .last_step = found.back()->step,
         .count = static_cast<int64_t>(found.size()),
         .measured = static_cast<double>(found.front()->passes),
         .bound = 1});
  }
  if (judged == 0) {
    return absl::FailedPreconditionError(
        "no step ran more than one micro-batch through DDP on several ranks");
  }
  verdict.judged = Counted(judged, "step");
  return verdict;
}

// Every `clearing`th step zeroes its gradients after each pass; 0: none.
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
      .title = "DDP synchronizes after every micro-batch",
      .promise = "Gradients accumulated over micro-batches are synchronized once per step.",
      .why = "Every rank all-reduces all gradients once per micro-batch and waits each time.",
      .method =
          "Counts DDP forward passes that synchronize gradients and backward calls in steps with "
          "several micro-batches. Every micro-batch synchronizes.",
      .fix =
          "Run the forward and backward of all micro-batches of a step except the last inside "
          "`with model.no_sync():`.",
      .limits = {.needs = "Gradient accumulation under DDP.",
                 .silent_when = "The number of DDP forward passes differs from the number of "
                                "backward calls. Gradients are zeroed between two backward calls.",
                 .severity = "Always a note: the result is the same up to rounding.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in micro_batches:
    loss = criterion(model(x), y) / len(micro_batches)
    loss.backward()  # all-reduces every time
optimizer.step())",
                 .good = R"(with model.no_sync():
    for x, y in micro_batches[:-1]:
        (criterion(model(x), y) / len(micro_batches)).backward()
x, y = micro_batches[-1]
(criterion(model(x), y) / len(micro_batches)).backward()
optimizer.step())"},
      .cpp = {},
      .sources = {"PyTorch: DistributedDataParallel.no_sync"},
      .covers = {"wrong-sync-in-accumulation"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"only the last of four synchronizes", Expect::kClean,
                    [] { return Sharing(4, 0); }},
                   {"all of four synchronize", Expect::kNote, [] { return Sharing(4, 4); }},
                   {"three of four synchronize", Expect::kClean, [] { return Sharing(4, 2); }},
                   {"all of four synchronize, with a lookahead before every other step",
                    Expect::kNote, [] { return Sharing(4, 4, 2); }}},
  };
}

}  // namespace dlcheck::distributed
