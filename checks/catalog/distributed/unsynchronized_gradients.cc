#include "checks/catalog/example_runs.h"
#include "checks/catalog/rank_runs.h"
#include "checks/catalog/unshared.h"
#include "checks/engine/reads.h"

namespace dlcheck::distributed {
namespace {

// Steps in which gradients differ, of those that are compared: fewer may be meant, as local steps.
constexpr Setting kShare{.name = "share",
                         .value = 0.5,
                         .low = 0,
                         .high = 1,
                         .unit = "of sampled steps",
                         .meaning = "from which on gradients that differ are no exception",
                         .source = "own reasoning: a wrapper shares them at every step"};

// Of the declared groups.
void JudgeShared(double share, const Replicas& replicas, Verdict& verdict) {
  for (const Replicas::Group& group : replicas.groups) {
    if (!group.declared) continue;
    const std::vector<OddParameter> found = UnsharedIn(group, share);
    if (found.empty()) continue;
    const auto [parameter, state] = found.front();
    verdict.findings.push_back(FindingAbout(
        found, SeverityOf(replicas, *parameter),
        StrCat("Ranks ", group.name, " step ", Share(found.size(), group),
               " of their replicas with gradients of their own, ", parameter->name, " in ",
               parameter->unshared.size(), " of ", Counted(parameter->compared, "sampled step"),
               ": ", WhyUnshared(group, found.front()), "."),
        parameter->unshared.back().step));
  }
}

// Of what is trained beside a declared group, by the same processes.
void JudgeBeside(double share, const Replicas& replicas, Verdict& verdict) {
  for (const Replicas::Group& beside : replicas.groups) {
    if (beside.declared || replicas.own_sharing || replicas.speaks_in_passes) continue;
    for (const Replicas::Group& group : replicas.groups) {
      if (!group.declared || group.of_pieces || group.name != beside.name) continue;
      const std::vector<OddParameter> found = LeftOutOf(group, beside, share);
      if (found.empty()) continue;
      const auto [parameter, state] = found.front();
      verdict.findings.push_back(FindingAbout(
          found, Severity::kWarning,
          StrCat("Ranks ", group.name, " share the gradients of ",
                 Counted(static_cast<int64_t>(group.parameters.size()), "parameter"),
                 ", and not those of ", parameter->name, ", which was the same on all of them: ",
                 group.wrapped ? "it is no part of what is wrapped."
                               : "it is left out as gradients are put together."),
          parameter->unshared.back().step));
    }
  }
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Replicas& replicas) {
  Verdict verdict;
  JudgeShared(settings[kShare], replicas, verdict);
  JudgeBeside(settings[kShare], replicas, verdict);
  int64_t judged = 0;
  for (const Replicas::Group& group : replicas.groups) {
    if (!group.declared) continue;
    for (const Replicas::Parameter& parameter : group.parameters) judged += parameter.compared > 0;
  }
  if (judged == 0) {
    return absl::FailedPreconditionError(
        "no weights are shared by several processes that step together");
  }
  verdict.judged = Counted(judged, "parameter");
  return verdict;
}

// Two ranks whose gradients are 0.1 and, from step `from` up to step `to`, `second`; if that is
// another, their weights part.
Evidence Stepping(double second, RankStep like = {}, bool own_sharing = false, int from = 0,
                  int to = 8) {
  RunBuilder run = OfRanks({.step = [=](uint16_t rank, int step) {
    RankStep values = like;
    if (rank == 1 && step >= from && step < to) values.gradient = second;
    values.weights = step + 1 + (second != 0.1 && rank == 1 && step > from ? 0.5 : 0);
    return values;
  }});
  if (own_sharing) run.Process("own_sharing", "1");
  return PlainOnly(run);
}

// The head is trained beside the replicas, by gradients of its own; at first it is off by `other`.
Evidence WithHeadBeside(double other) {
  return PlainOnly(OfRanks({.head_is_beside = true, .step = [=](uint16_t rank, int step) {
                              const double off = step > 0 ? 0.5 : other;
                              return RankStep{.head = step + 11 + rank * off,
                                              .head_gradient = 0.1 + 0.05 * rank};
                            }}));
}

}  // namespace

Check UnsynchronizedGradients() {
  return {
      .id = "distributed/unsynchronized_gradients",
      .promise = "Replicas step with the same gradients on all processes.",
      .why =
          "Each process trains a model of its own on a part of the data, and the one that is saved "
          "has seen no more than that.",
      .method =
          "Norms of each gradient as steps consume it, compared between the processes of a group "
          "whose weights, by digests of all their bytes, part from each other. What the forward "
          "passes of the wrapper say of the cause is told.",
      .fix =
          "Call the DistributedDataParallel, not the module in it; leave no_sync() before the last "
          "micro-batch of a step; change and unfreeze layers before the model is wrapped, or wrap "
          "it "
          "again; put layers that a loss has of its own into what is wrapped; and do to gradients "
          "after backward what is the same on all processes.",
      .limits =
          "Silent where weights become equal again, and where fewer than half of the steps are "
          "unshared and none is shared after them. A note where the program shares by a hook of "
          "its own or sends weights. A warning of what their optimizer trains beside the replicas, "
          "meant or not, if all of it began alike and nothing is told in passes. Norms that differ "
          "by less than 1e-5 are taken to be rounded: distributed/replica_divergence judges those.",
      .sources = {"PyTorch: DistributedDataParallel, no_sync",
                  "own reasoning: equal gradients have equal norms"},
      .covers = {"X01", "X02", "C03"},
      .explains = {"distributed/replica_divergence", "distributed/mismatched_gradient"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kShare},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"the same", Expect::kClean, [] { return Stepping(0.1); }},
           {"others, the wrapper is not called", Expect::kFaulty,
            [] { return Stepping(0.12, {.passes = 0}); }},
           {"others, all passes in no_sync()", Expect::kFaulty,
            [] { return Stepping(0.12, {.passes = 2, .sharing = 0, .last_shares = false}); }},
           {"others, the last pass in no_sync()", Expect::kFaulty,
            [] { return Stepping(0.12, {.passes = 2, .last_shares = false}); }},
           {"others, although all was shared", Expect::kFaulty, [] { return Stepping(0.12); }},
           {"others, by a hook of the program's own", Expect::kFaulty,
            [] { return Stepping(0.12, {}, true); }},
           {"others in one step", Expect::kFaulty, [] { return Stepping(0.12, {}, false, 3, 4); }},
           {"others in the last steps, as each goes on for itself", Expect::kClean,
            [] { return Stepping(0.12, {}, false, 5); }},
           {"a head left out", Expect::kFaulty, [] { return WithHeadBeside(0); }},
           {"a head of its own", Expect::kClean, [] { return WithHeadBeside(0.5); }}},
  };
}

}  // namespace dlcheck::distributed
