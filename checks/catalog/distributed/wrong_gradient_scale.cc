#include <algorithm>
#include <cmath>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/distributed/rank_shares.h"
#include "checks/signals/distributed/replicas.h"

namespace dlcheck::distributed {
namespace {

constexpr double kTolerance = 0.01;  // half precision rounds a third by a 256th
constexpr size_t kFewestSteps = 4;

bool IsAbout(double value, double other) { return std::abs(value - other) <= kTolerance * other; }

// Whether each rank's part of each step is `times` its mean loss. A sum over as many backward calls
// says nothing about ranks.
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
  return StrCat(
      "Ranks ", group.name, " stepped with ", is_sum ? "the sum" : StrCat("1/", processes),
      is_sum ? " of their gradients, not their mean: " : " of their mean gradient: ",
      IsAbout(group.factor, 1)
          ? StrCat("the loss is ", Short(share), " times a mean,")
          : StrCat("the gradients are multiplied by ", Short(group.factor), " after backward,"),
      " although DDP already divides by the world size.");
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
    // Half a squared error is common. With a loss over the samples of all ranks, each rank has a
    // part
    // of the gradient, and the parts add up.
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
    return absl::NotFoundError("fewer than four steps showed the scales of losses and gradients");
  }
  verdict.judged = Counted(steps, "step");
  return verdict;
}

// Losses of both ranks that are `share` times their means, and gradients multiplied by `factor`.
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
      .title = "Gradients are scaled by the world size",
      .promise =
          "Ranks step with the mean of their gradients, not with their sum or a fraction of the "
          "mean.",
      .why =
          "The step size depends on the number of ranks. Hyperparameters tuned on one machine do "
          "not hold on another.",
      .method =
          "Compares each rank's gradient at backward with that of the mean loss over its own "
          "targets. Multiplies the ratio by any scaling between DDP's synchronization and clipping "
          "or the step. The product equals world_size or 1/world_size at every sampled step.",
      .fix =
          "DistributedDataParallel already divides by the world size. Remove your own division or "
          "multiplication and any all_reduce of gradients after backward.",
      .limits =
          {.needs =
               "Two ranks under DDP and at least four steps with known loss and gradient scales.",
           .silent_when = "Undivided sums over micro-batches. Losses with label smoothing, weights "
                          "or further terms. Changes between unscaling and clipping.",
           .severity = "Warning. Note if the scale comes from the loss (as in half a squared "
                       "error). Note if the program has a custom gradient hook. Note for sums if "
                       "ranks exchange more than gradients, as in losses over all samples.",
           .blind_spots = "Only loss and gradient scales are compared; --deep compares the "
                          "gradients themselves.",
           .sensitivity = ""},
      .python = {.bad = R"(loss = criterion(ddp_model(x), y)
loss.backward()
for p in ddp_model.parameters():
    p.grad /= dist.get_world_size()
optimizer.step())",
                 .good = R"(loss = criterion(ddp_model(x), y)
loss.backward()
optimizer.step())"},
      .cpp = {},
      .sources = {"PyTorch: DistributedDataParallel averages gradients",
                  "torchtune #2172: loss scaled by the number of processes"},
      .covers = {"scaled-by-world-size", "world-size-in-normalizer"},
      .explains = {"distributed/mismatched_gradient"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a mean loss", Expect::kClean, [] { return Scaled(1, 1); }},
                   {"a sum divided by its size", Expect::kClean,
                    [] { return Scaled(32, 1.0 / 32); }},
                   {"a loss divided by two", Expect::kNote, [] { return Scaled(0.5, 1); }},
                   {"gradients divided by two", Expect::kWarning, [] { return Scaled(1, 0.5); }},
                   {"summed gradients", Expect::kWarning, [] { return Scaled(1, 2); }},
                   {"a loss times two, gradients divided", Expect::kClean,
                    [] { return Scaled(2, 0.5); }},
                   {"a sum over two micro-batches", Expect::kClean, [] { return Scaled(2, 1, 2); }},
                   {"summed gradients of two micro-batches", Expect::kWarning,
                    [] { return Scaled(1, 2, 2); }}},
  };
}

}  // namespace dlcheck::distributed
