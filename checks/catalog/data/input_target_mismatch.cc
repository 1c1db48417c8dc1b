#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/held_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"

namespace dlcheck::data {
namespace {

constexpr Setting kMostAsNoise{
    .name = "most_as_noise",
    .value = 0.25,
    .low = 0,
    .high = 1,
    .unit = "of the targets that can be judged",
    .meaning = "share misplaced by steps that draw random numbers, above which it is a warning",
    .source = "own reasoning: the check sees half of them if all labels are permuted"};

// Steps that draw random numbers may permute some targets on purpose, as noise or as a control. A
// loss that is not known to be minimized alone may compare samples on purpose.
Severity SeverityOf(const Arrangements& held, const Arrangements::Loss& loss,
                    double most_as_noise) {
  if (!held.drawn_at_random || !loss.minimized) return Severity::kNote;
  if (!held.draws) return Severity::kError;
  return loss.misplaced > most_as_noise * loss.told ? Severity::kWarning : Severity::kNote;
}

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kFixedBatch, Arrangements>& held) {
  if (held->losses.empty()) return absl::FailedPreconditionError(held->untried_targets);
  if (!held->order && !held->draws) return absl::FailedPreconditionError(held->untried_order);
  const auto count = static_cast<int64_t>(held->losses.size());
  Verdict verdict{.findings = {}, .judged = Counted(count, "loss function")};
  // If the order of samples does not matter, outputs and targets stay paired.
  if (held->order && held->order->share <= HeldBound(settings, held->order->rounding)) {
    return verdict;
  }
  for (const Arrangements::Loss& loss : held->losses) {
    if (loss.misplaced == 0) continue;
    verdict.findings.push_back(
        {.severity = SeverityOf(*held, loss, settings[kMostAsNoise]),
         .message = StrCat(loss.name, " compared at least ", loss.misplaced, " of ", loss.told,
                           " judged targets of a batch with outputs of other samples."),
         .places = {{.thing = loss.name, .file = ""}},
         .first_step = loss.step,
         .last_step = loss.step,
         .count = Whole(loss.misplaced),
         .measured = loss.misplaced,
         .bound = 0});
  }
  return verdict;
}

// `targets` of 26 targets are misplaced; the gradient changes by `share` of its norm when samples
// are permuted.
Evidence Misplaced(double targets, double share) {
  RunBuilder held;
  held.Process("held_order", "random");
  for (int step = 0; step < 4; ++step) AddStep(held, {.held = {}});
  held.Quantity(Quantity::kOrderSensitivity, "optimizer", "", share, 2e-7);
  held.Quantity(Quantity::kLossShare, "loss", "cross_entropy", 1, 32);
  held.Quantity(Quantity::kMisplacedTargets, "loss", "cross_entropy", targets, 26);
  Evidence evidence;
  evidence.Add(kPlain, TwoLayers().Build());
  evidence.Add(kFixedBatch, held.Build());
  return evidence;
}

}  // namespace

Check InputTargetMismatch() {
  return {
      .id = "data/input_target_mismatch",
      .title = "Targets are compared with other samples' outputs",
      .promise = "The loss compares each output with the target of the same sample.",
      .why =
          "The model receives the labels of other samples. The model learns only how often each "
          "label occurs. If only some targets are misplaced, the model learns against noise.",
      .method =
          "Keeps one batch and the weights fixed and splits the samples into two halves. Permutes "
          "the inputs of each half, then the targets of each half. An output that depends on one "
          "half only must meet targets of that half. Also checks that the gradient changes when "
          "samples are permuted together with their targets.",
      .fix =
          "Apply the same indices to inputs and targets when you sort, shuffle, reverse, roll or "
          "filter. Swap axes with transpose or permute, not with view.",
      .limits =
          {.needs = "--deep, one optimizer, and DataLoader batches with one row per sample. A loss "
                    "of torch.nn.functional. Targets that are not inputs of the model.",
           .silent_when = "Outputs depend on several samples. Inputs are sorted by their content. "
                          "The data set itself pairs inputs and targets wrongly.",
           .severity =
               "Error. At most a warning if steps draw random numbers, which may permute labels on "
               "purpose. Note if the loader's order is not random. Note if the loss is not known "
               "to be minimized alone. Note if steps with random numbers misplace few targets.",
           .blind_spots = "",
           .sensitivity = ""},
      .python = {.bad = R"(lengths, order = lengths.sort(descending=True)
outputs = model(x[order], lengths)
loss = criterion(outputs, y))",
                 .good = R"(lengths, order = lengths.sort(descending=True)
outputs = model(x[order], lengths)
loss = criterion(outputs, y[order]))"},
      .cpp = {},
      .sources = {"own reasoning: exact"},
      .covers = {"mispaired-targets"},
      .explains = {"data/order_dependence", "learnability/cannot_overfit_one_batch",
                   "learnability/input_independence"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kHeldTimes, kHeldFloor, kMostAsNoise},
      .judgement = Reads<&Judge>(),
      .examples = {{"the order of samples does not matter", Expect::kClean,
                    [] { return Misplaced(1, 1e-5); }},
                   {"the order matters, and one target is misplaced", Expect::kError,
                    [] { return Misplaced(1, 2e-5); }},
                   {"the order matters, and no target is misplaced", Expect::kClean,
                    [] { return Misplaced(0, 2e-5); }}},
  };
}

}  // namespace dlcheck::data
