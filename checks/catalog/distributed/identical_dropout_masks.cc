#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/distributed/rank_data.h"

namespace dlcheck::distributed {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 3,
                         .low = 1,
                         .high = 64,
                         .unit = "steps",
                         .meaning = "fewest steps for a finding",
                         .source = "own reasoning: all of these steps must agree"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const RankData& data) {
  Verdict verdict;
  int64_t draws = 0;
  for (const RankData::Group& group : data.groups) {
    if (static_cast<double>(group.draws) < settings[kSteps]) continue;
    draws += group.draws;
    if (group.same_draws < group.draws) continue;
    verdict.findings.push_back(
        {.severity = Severity::kNote,
         .message = StrCat("Forward passes of ", RanksText(group.same_drawers),
                           " started with the same RNG state at all ", Counted(group.draws, "step"),
                           " checked, so their dropout masks were identical."),
         .places = {},
         .first_step = 0,
         .last_step = 0,
         .count = group.same_draws,
         .measured = static_cast<double>(group.same_draws),
         .bound = 0});
  }
  if (draws == 0) {
    return absl::FailedPreconditionError("no forward passes on several ranks drew random numbers");
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
      .title = "All ranks draw the same dropout masks",
      .promise = "Ranks that synchronize gradients draw different dropout masks.",
      .why =
          "Each batch is then trained with fewer masks than ranks, so the gradient is noisier than "
          "dropout intends.",
      .method =
          "Compares hashes of the RNG state at the start of forward passes that draw random "
          "numbers. Checks the steps that are powers of two. Two ranks of a process group have "
          "equal states at every one of these steps.",
      .fix =
          "Use one seed for the weights. Then seed per rank: torch.manual_seed(seed + rank) after "
          "building the model.",
      .limits = {.needs = "Forward passes that draw random numbers on two ranks.",
                 .silent_when = "",
                 .severity = "Always a note: libraries often seed all ranks with one seed, and "
                             "most models learn as well.",
                 .blind_spots = "On accelerators, the state consists of seed and position.",
                 .sensitivity = ""},
      .python = {.bad = R"(torch.manual_seed(0)
model = DistributedDataParallel(Net().cuda())
train(model))",
                 .good = R"(torch.manual_seed(0)
model = DistributedDataParallel(Net().cuda())
torch.manual_seed(1 + dist.get_rank())
train(model))"},
      .cpp = {},
      .sources = {"own reasoning: equal states draw equal numbers"},
      .covers = {"identical-dropout-masks"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kForward,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"different RNG states", Expect::kClean, [] { return Drawing(0); }},
                   {"equal RNG states", Expect::kNote, [] { return Drawing(8); }},
                   {"different RNG states from the fourth step on", Expect::kClean,
                    [] { return Drawing(4); }}},
  };
}

}  // namespace dlcheck::distributed
