#include <algorithm>
#include <cmath>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/rank_runs.h"
#include "checks/catalog/findings/window_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/distributed/rank_shares.h"

namespace dlcheck::distributed {
namespace {

using Step = RankShares::Step;

constexpr Setting kUneven{.name = "uneven",
                          .value = 1.1,
                          .low = 1,
                          .high = 100,
                          .unit = "1",
                          .meaning = "smallest ratio of the most to the fewest targets of a rank",
                          .source = "own reasoning: a ratio below 1.1 is less than gradient noise"};

// The losses of all ranks have the same share of their own mean.
bool CountsProcessesAlike(const Step& step, double tolerance) {
  const double first = step.parts.begin()->second.share;
  return std::ranges::all_of(step.parts, [&](const auto& entry) {
    return std::abs(entry.second.share - first) <= tolerance * std::abs(first);
  });
}

std::string Bias(const Step& step) {
  const auto targets = [](const auto& entry) { return entry.second.targets; };
  const auto [least, most] = std::ranges::minmax_element(step.parts, {}, targets);
  return StrCat("at step ", step.step, " a target on rank ", least->first, " (",
                least->second.targets, " targets) counts ", Short(step.Unevenness()),
                " times as much as one on rank ", most->first, " (", most->second.targets,
                " targets)");
}

void JudgeGroup(const Settings& settings, const RankShares::Group& group, int64_t& uneven,
                Verdict& verdict) {
  std::vector<const Step*> alike;
  int64_t judged = 0;
  for (const Step& step : group.steps) {
    if (step.Unevenness() < settings[kUneven]) continue;
    ++judged;
    if (CountsProcessesAlike(step, settings[kShareTolerance])) alike.push_back(&step);
  }
  uneven += judged;
  const auto count = static_cast<double>(alike.size());
  // Steps divided by all targets show that the program can do so.
  if (count < settings[kEnoughWindows] || 2 * count < static_cast<double>(judged)) return;
  const Step& worst = **std::ranges::max_element(alike, {}, &Step::Unevenness);
  const bool is_rare = count < settings[kRareWindows] * static_cast<double>(group.steps.size());
  verdict.findings.push_back(
      {.severity = is_rare ? Severity::kNote : Severity::kWarning,
       .message = StrCat(
           "In ", Counted(static_cast<int64_t>(alike.size()), "step"), ", ranks ", group.name,
           " had equal weights although their numbers of targets differed: ", Bias(worst), "."),
       .places = {{.thing = "loss", .file = ""}},
       .first_step = alike.front()->step,
       .last_step = alike.back()->step,
       .count = static_cast<int64_t>(alike.size()),
       .measured = worst.Unevenness(),
       .bound = settings[kUneven]});
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const RankShares& shares) {
  Verdict verdict;
  int64_t uneven = 0;
  for (const RankShares::Group& group : shares.groups) {
    JudgeGroup(settings, group, uneven, verdict);
  }
  if (uneven == 0) {
    return absl::FailedPreconditionError("all ranks had about the same number of targets");
  }
  verdict.judged = StrCat(Counted(uneven, "step"), " with unequal numbers of targets");
  return verdict;
}

// Two ranks with 24 and `others` targets and these loss shares.
Evidence Weighing(double first, double second, double others, int steps = 8) {
  RunBuilder run = OfRanks({.step = [=](uint16_t rank, int step) {
    const bool is_even = step >= steps;
    return RankStep{.share = is_even     ? 1
                             : rank == 0 ? first
                                         : second,
                    .targets = rank == 0 || is_even ? 24 : others};
  }});
  return PlainOnly(run);
}

}  // namespace

Check UnweightedRankMean() {
  return {
      .id = "distributed/unweighted_rank_mean",
      .title = "Ranks with unequal targets weigh equally",
      .promise = "Each target of a step has the same weight on every rank.",
      .why =
          "Targets on a rank with few targets weigh more. The minimized loss then depends on how "
          "batches are sharded and on the number of ranks.",
      .method =
          "Finds steps with unequal target counts across ranks. Compares each rank's gradient at "
          "backward with that of the mean loss over its own targets. The ratio is the same on all "
          "ranks.",
      .fix =
          "Sum the losses on each rank and all_reduce the target count. DDP averages over ranks, "
          "so use loss = loss_sum / total_targets * world_size.",
      .limits = {.needs = "Ranks with unequal numbers of targets in several steps.",
                 .silent_when =
                     "Losses with label smoothing, weights or further terms are not judged.",
                 .severity = "Warning; note if few steps are uneven, as at the end of an epoch.",
                 .blind_spots = "A mean over sequences, one per rank, looks the same.",
                 .sensitivity = ""},
      .python = {.bad = R"(loss = F.cross_entropy(ddp_model(x), y, ignore_index=-100)
loss.backward()
optimizer.step())",
                 .good = R"(total = (y != -100).sum()
dist.all_reduce(total)
loss = F.cross_entropy(ddp_model(x), y, ignore_index=-100, reduction="sum")
loss = loss / total * dist.get_world_size()
loss.backward()
optimizer.step())"},
      .cpp = {},
      .sources = {"huggingface/transformers issue 34242",
                  "own reasoning: the unweighted mean equals the mean only for equal counts"},
      .covers = {"unweighted-accumulation", "scaled-by-world-size"},
      .explains = {"distributed/mismatched_gradient"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kUneven, kShareTolerance, kEnoughWindows, kRareWindows},
      .judgement = Reads<&Judge>(),
      .examples = {{"24 and 8 targets with weights 3/2 and 1/2", Expect::kClean,
                    [] { return Weighing(1.5, 0.5, 8); }},
                   {"24 and 8 targets with equal weights", Expect::kWarning,
                    [] { return Weighing(1, 1, 8); }},
                   {"equal weights in two of eight steps", Expect::kClean,
                    [] { return Weighing(1, 1, 8, 2); }}},
  };
}

}  // namespace dlcheck::distributed
