#include "checks/catalog/example_runs.h"
#include "checks/catalog/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/rank_data.h"

namespace dlcheck::distributed {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 3,
                         .low = 1,
                         .high = 64,
                         .unit = "steps",
                         .meaning = "fewest that a finding rests on",
                         .source = "own reasoning: all of them have to agree"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const RankData& data) {
  Verdict verdict;
  int64_t draws = 0;
  for (const RankData::Group& group : data.groups) {
    if (static_cast<double>(group.draws) < settings[kSteps]) continue;
    draws += group.draws;
    if (group.same_draws < group.draws) continue;
    verdict.findings.push_back(
        {.severity = Severity::kNote,
         .message = StrCat("The forward passes of ", RanksText(group.same_drawers),
                           " draw from the same state of the random numbers at all of ",
                           Counted(group.draws, "step"),
                           " looked at, so dropout leaves out the same on all of them."),
         .places = {},
         .first_step = 0,
         .last_step = 0,
         .count = group.same_draws,
         .measured = static_cast<double>(group.same_draws),
         .bound = 0});
  }
  if (draws == 0) {
    return absl::FailedPreconditionError(
        "no forward passes of several processes drew random numbers");
  }
  verdict.judged = Counted(draws, "step");
  return verdict;
}

Evidence Drawing(int same_until) {
  RunBuilder run = OfRanks({.step = [=](uint16_t rank, int step) {
    return RankStep{.drawn = step + (rank == 0 || step < same_until ? 1 : 1.5)};
  }});
  return PlainOnly(run);
}

}  // namespace

Check IdenticalDropoutMasks() {
  return {
      .id = "distributed/identical_dropout_masks",
      .promise = "Processes that share gradients draw their own dropout masks.",
      .why =
          "A batch is then trained with fewer masks than it has processes, which makes its "
          "gradient "
          "noisier than dropout is meant to.",
      .method =
          "Digests of the state of the random numbers as a forward pass begins that draws some, at "
          "steps that are powers of two: the same on two processes of a group at each of them.",
      .fix =
          "Seed weights alike and then the rest by rank: torch.manual_seed(seed + rank) after the "
          "model is made.",
      .limits =
          "Always a note: libraries seed all processes alike, and most models learn as well. On "
          "accelerators the state holds seed and position.",
      .sources = {"own reasoning: equal states draw equal numbers"},
      .covers = {"X09"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kForward,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"other states", Expect::kClean, [] { return Drawing(0); }},
                   {"the same states", Expect::kFaulty, [] { return Drawing(8); }},
                   {"other from the fourth step on", Expect::kClean, [] { return Drawing(4); }}},
  };
}

}  // namespace dlcheck::distributed
