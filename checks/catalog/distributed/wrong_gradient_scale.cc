#include <algorithm>
#include <cmath>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/rank_shares.h"
#include "checks/signals/replicas.h"

namespace dlcheck::distributed {
namespace {

constexpr double kTolerance = 0.01;  // half precision rounds a third by a 256th
constexpr size_t kFewestSteps = 4;

bool IsAbout(double value, double other) { return std::abs(value - other) <= kTolerance * other; }

// Whether each process's part of each step ends up as `times` its mean loss. What a sum over as
// many backward calls gives says nothing of processes.
bool Counts(const RankShares::Group& group, double times) {
  return std::ranges::all_of(group.steps, [&](const RankShares::Step& step) {
    return std::ranges::all_of(step.parts, [&](const auto& entry) {
      const RankShares::Part& part = entry.second;
      return IsAbout(part.share * group.factor, times) &&
             (part.calls == 1 || !IsAbout(part.share, static_cast<double>(part.calls)));
    });
  });
}

std::string MessageFor(const RankShares::Group& group, double processes, bool is_sum) {
  const double share = group.steps.front().parts.begin()->second.share;
  return StrCat("Ranks ", group.name, " step with ", is_sum ? "the sum" : StrCat("1/", processes),
                is_sum ? " of their gradients, not their mean: " : " of their mean gradient: ",
                IsAbout(group.factor, 1) ? StrCat("the loss is ", Short(share), " times a mean,")
                                         : StrCat("the gradients are multiplied by ",
                                                  Short(group.factor), " after backward,"),
                " although the wrapper divides by the number of processes.");
}

absl::StatusOr<Verdict> Judge(const Settings&, const RankShares& shares, const Replicas& replicas) {
  Verdict verdict;
  int64_t steps = 0;
  for (const RankShares::Group& group : shares.groups) {
    if (group.factor == 0 || group.steps.size() < kFewestSteps) continue;
    steps += static_cast<int64_t>(group.steps.size());
    const auto processes = static_cast<double>(group.steps.front().parts.size());
    const bool is_sum = Counts(group, processes);
    if (!is_sum && !Counts(group, 1 / processes)) continue;
    // Half a squared error is usual; and a loss over the samples of all processes gives each a part
    // of its gradient, which add up.
    const bool may_be_meant =
        IsAbout(group.factor, 1) || replicas.own_sharing || (is_sum && replicas.speaks_in_losses);
    verdict.findings.push_back({.severity = may_be_meant ? Severity::kNote : Severity::kWarning,
                                .message = MessageFor(group, processes, is_sum),
                                .places = {{.thing = "loss", .file = ""}},
                                .first_step = group.steps.front().step,
                                .last_step = group.steps.back().step,
                                .count = static_cast<int64_t>(group.steps.size()),
                                .measured = is_sum ? processes : 1 / processes,
                                .bound = 1});
  }
  if (steps == 0) {
    return absl::NotFoundError("fewer than four steps showed what losses and gradients are times");
  }
  verdict.judged = Counted(steps, "step");
  return verdict;
}

// Losses of both processes that are `share` of their means, and gradients that are multiplied.
Evidence Scaled(double share, double factor, int passes = 1) {
  RunBuilder run = OfRanks({.step = [=](uint16_t, int) {
    return RankStep{.share = share, .passes = passes, .sharing = 0};
  }});
  run.Attribute(kReplicas, "0-1", "gradients_times", StrCat(factor));
  return PlainOnly(run);
}

}  // namespace

Check WrongGradientScale() {
  return {
      .id = "distributed/wrong_gradient_scale",
      .promise = "Processes step with the mean of their gradients, not with a sum or a part of it.",
      .why =
          "The size of a step depends on how many processes there are: what was tuned on one "
          "machine does not hold on another.",
      .method =
          "What the backward calls of each process start from, as a share of the mean loss of its "
          "own targets, times what the gradients are multiplied by between the backward in which "
          "DistributedDataParallel shares them and their clipping or the step: the number of "
          "processes, or one by it, at every sampled step.",
      .fix =
          "DistributedDataParallel divides by the number of processes itself: take your own "
          "division or multiplication away, and the all_reduce of gradients after backward.",
      .limits =
          "A note where the loss alone is so many times a mean, as half a squared error is, too, "
          "where the program shares gradients by a hook of its own, and of sums where processes "
          "tell each other more than gradients, as losses over the samples of all do. "
          "Undivided sums over micro-batches are left alone. Losses with smoothing, weights or "
          "further terms are not judged, nor what is done "
          "between unscaling and clipping; --deep compares the gradients themselves.",
      .sources = {"PyTorch: DistributedDataParallel averages gradients",
                  "torchtune #2172: loss scaled by the number of processes"},
      .covers = {"X08"},
      .explains = {"distributed/mismatched_gradient"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a mean", Expect::kClean, [] { return Scaled(1, 1); }},
                   {"a sum that is divided by its size", Expect::kClean,
                    [] { return Scaled(32, 1.0 / 32); }},
                   {"a loss divided by two", Expect::kFaulty, [] { return Scaled(0.5, 1); }},
                   {"gradients divided by two", Expect::kFaulty, [] { return Scaled(1, 0.5); }},
                   {"gradients added up", Expect::kFaulty, [] { return Scaled(1, 2); }},
                   {"a loss times two, gradients divided", Expect::kClean,
                    [] { return Scaled(2, 0.5); }},
                   {"a sum over two micro-batches", Expect::kClean, [] { return Scaled(2, 1, 2); }},
                   {"gradients added up of two micro-batches", Expect::kFaulty,
                    [] { return Scaled(1, 2, 2); }}},
  };
}

}  // namespace dlcheck::distributed
