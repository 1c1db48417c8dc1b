#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/rank_runs.h"
#include "checks/catalog/findings/unshared.h"
#include "checks/engine/reads.h"

namespace dlcheck::distributed {
namespace {

// Share of compared steps with different gradients: fewer may be intentional, as in local SGD.
constexpr Setting kShare{.name = "share",
                         .value = 0.5,
                         .low = 0,
                         .high = 1,
                         .unit = "of sampled steps",
                         .meaning = "smallest share of steps with different gradients",
                         .source = "own reasoning: DDP synchronizes gradients at every step"};

// Of the declared groups.
void JudgeShared(double share, const Replicas& replicas, Verdict& verdict) {
  for (const Replicas::Group& group : replicas.groups) {
    if (!group.declared) continue;
    const std::vector<OddParameter> found = UnsharedIn(group, share);
    if (found.empty()) continue;
    const auto [parameter, state] = found.front();
    verdict.findings.push_back(FindingAbout(
        found, SeverityOf(replicas, *parameter),
        StrCat("Ranks ", group.name, " stepped ", Share(found.size(), group),
               " with unsynchronized gradients, ", parameter->name, " in ",
               parameter->unshared.size(), " of ", Counted(parameter->compared, "sampled step"),
               ": ", WhyUnshared(group, found.front()), "."),
        parameter->unshared.back().step));
  }
}

// Parameters that the same ranks train beside a declared group.
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
          StrCat("Ranks ", group.name, " synchronized the gradients of ",
                 Counted(static_cast<int64_t>(group.parameters.size()), "parameter"),
                 ", but not those of ", parameter->name, ", which started equal on all ranks: ",
                 group.wrapped ? "it is outside the DDP module." : "the all-reduce skips it."),
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
    return absl::FailedPreconditionError("no ranks that step together hold the same weights");
  }
  verdict.judged = Counted(judged, "parameter");
  return verdict;
}

// Two ranks with gradients of 0.1; the second has `second` from step `from` up to step `to`. If it
// differs, their weights diverge.
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

// The head is trained beside the replicas with unsynchronized gradients; at first it differs by
// `other`.
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
      .title = "Gradients are not synchronized across ranks",
      .promise = "Replicas on all ranks step with the same gradients.",
      .why =
          "Each rank trains its own model on its shard of the data. The saved model has seen only "
          "one shard.",
      .method =
          "Compares the gradient norms that steps consume across ranks whose weights diverge, by "
          "parameter hashes. The DDP forward passes show the cause.",
      .fix =
          "Call the DDP model, not model.module. Leave no_sync() before the last micro-batch. Add "
          "or unfreeze layers before wrapping, or wrap again. Put layers of the loss into the "
          "wrapped module. Change gradients after backward equally on all ranks.",
      .limits =
          {.needs = "Two ranks that synchronize weights, as under DDP.",
           .silent_when =
               "Weights become equal again. Fewer than half of the steps are unsynchronized and no "
               "later step is synchronized. Norms that differ by less than 1e-5 count as rounding "
               "and belong to distributed/replica_divergence.",
           .severity =
               "Error. Note with a custom gradient hook or weights that the program sends itself. "
               "Warning if the optimizer also trains parameters outside DDP that started equal, "
               "intentional or not. Ranks must then send nothing in their passes.",
           .blind_spots = "",
           .sensitivity = ""},
      .python = {.bad = R"(ddp_model = DistributedDataParallel(model)
loss = criterion(ddp_model.module(x), y)
loss.backward()
optimizer.step())",
                 .good = R"(ddp_model = DistributedDataParallel(model)
loss = criterion(ddp_model(x), y)
loss.backward()
optimizer.step())"},
      .cpp = {},
      .sources = {"PyTorch: DistributedDataParallel, no_sync",
                  "own reasoning: equal gradients have equal norms"},
      .covers = {"bypassed-ddp-wrapper", "lost-synchronization-hooks", "partial-clipping"},
      .explains = {"distributed/replica_divergence", "distributed/mismatched_gradient"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kShare},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"equal gradients", Expect::kClean, [] { return Stepping(0.1); }},
           {"different gradients, DDP is not called", Expect::kError,
            [] { return Stepping(0.12, {.passes = 0}); }},
           {"different gradients, all passes in no_sync()", Expect::kError,
            [] { return Stepping(0.12, {.passes = 2, .sharing = 0, .last_shares = false}); }},
           {"different gradients, the last pass in no_sync()", Expect::kError,
            [] { return Stepping(0.12, {.passes = 2, .last_shares = false}); }},
           {"different gradients after synchronization", Expect::kError,
            [] { return Stepping(0.12); }},
           {"different gradients with a custom hook", Expect::kNote,
            [] { return Stepping(0.12, {}, true); }},
           {"different gradients in one step", Expect::kError,
            [] { return Stepping(0.12, {}, false, 3, 4); }},
           {"different gradients in the last steps, as ranks continue separately", Expect::kClean,
            [] { return Stepping(0.12, {}, false, 5); }},
           {"a head that is not synchronized", Expect::kWarning, [] { return WithHeadBeside(0); }},
           {"a separate head on each rank", Expect::kClean, [] { return WithHeadBeside(0.5); }}},
  };
}

}  // namespace dlcheck::distributed
