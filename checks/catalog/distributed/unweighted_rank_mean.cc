#include <algorithm>
#include <cmath>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/rank_runs.h"
#include "checks/catalog/window_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/rank_shares.h"

namespace dlcheck::distributed {
namespace {

using Step = RankShares::Step;

constexpr Setting kUneven{.name = "uneven",
                          .value = 1.1,
                          .low = 1,
                          .high = 100,
                          .unit = "1",
                          .meaning = "most targets of a process over the fewest, which counts",
                          .source = "own reasoning: a tenth is below the noise of gradients"};

// The losses of all processes begin from the same share of their own mean.
bool CountsProcessesAlike(const Step& step, double tolerance) {
  const double first = step.parts.begin()->second.share;
  return std::ranges::all_of(step.parts, [&](const auto& entry) {
    return std::abs(entry.second.share - first) <= tolerance * std::abs(first);
  });
}

std::string Bias(const Step& step) {
  const auto targets = [](const auto& entry) { return entry.second.targets; };
  const auto [least, most] = std::ranges::minmax_element(step.parts, {}, targets);
  return StrCat("at step ", step.step, " a target of rank ", least->first, ", which has ",
                least->second.targets, ", counts ", Short(step.Unevenness()), " times one of rank ",
                most->first, ", which has ", most->second.targets);
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
  // One that is divided by all targets shows that the program knows how.
  if (count < settings[kEnoughWindows] || 2 * count < static_cast<double>(judged)) return;
  const Step& worst = **std::ranges::max_element(alike, {}, &Step::Unevenness);
  const bool is_rare = count < settings[kRareWindows] * static_cast<double>(group.steps.size());
  verdict.findings.push_back(
      {.severity = is_rare ? Severity::kNote : Severity::kWarning,
       .message =
           StrCat("In ", Counted(static_cast<int64_t>(alike.size()), "step"), " ranks ", group.name,
                  " count alike although their numbers of targets differ, so the step "
                  "follows a mean of means: ",
                  Bias(worst), "."),
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
    return absl::FailedPreconditionError("all processes had about equally many targets");
  }
  verdict.judged = StrCat(Counted(uneven, "step"), " with unequal numbers of targets");
  return verdict;
}

// Two processes of 24 targets and `others`, whose losses begin from these shares.
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
      .promise = "Each target of a step counts alike, whichever process has it.",
      .why =
          "Targets of the process with few of them weigh more, so the loss that is minimised "
          "depends "
          "on how a batch happened to be dealt, and on the number of processes.",
      .method =
          "At steps in which processes of a group have unequal numbers of targets: what the "
          "backward calls of each start from, as a share of the mean loss of its own targets, is "
          "the same on all.",
      .fix =
          "Sum the losses of a process, count the targets of all processes by an all_reduce, and "
          "divide by that; DistributedDataParallel takes a mean over processes, so multiply by "
          "their number: loss = sum / targets_of_all * world.",
      .limits =
          "A mean over sequences, one a process, looks the same. A note if few steps are uneven, "
          "as "
          "those that end an epoch. Losses with smoothing, weights or further terms are not "
          "judged.",
      .sources = {"huggingface/transformers issue 34242",
                  "own reasoning: a mean of means is the mean only for equal counts"},
      .covers = {"G03", "X08"},
      .explains = {"distributed/mismatched_gradient"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kUneven, kShareTolerance, kEnoughWindows, kRareWindows},
      .judgement = Reads<&Judge>(),
      .examples = {{"24 and 8 targets count 3/2 and 1/2", Expect::kClean,
                    [] { return Weighing(1.5, 0.5, 8); }},
                   {"24 and 8 targets count alike", Expect::kFaulty,
                    [] { return Weighing(1, 1, 8); }},
                   {"in two of eight steps", Expect::kClean, [] { return Weighing(1, 1, 8, 2); }}},
  };
}

}  // namespace dlcheck::distributed
