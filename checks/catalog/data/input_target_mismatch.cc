#include "checks/catalog/example_runs.h"
#include "checks/catalog/held_finding.h"
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
    .unit = "of the targets that can be told",
    .meaning = "misplaced by steps that draw random numbers, above which it is no note",
    .source = "own reasoning: half of them are seen where all are dealt anew"};

// Where steps draw random numbers, they may deal some targets on purpose, as noise or as a control;
// and what is not seen to be minimised alone may be a comparison with others that is meant.
Severity SeverityOf(const Arrangements& held, const Arrangements::Loss& loss,
                    double most_as_noise) {
  if (!held.drawn_at_random || !loss.minimised) return Severity::kNote;
  if (!held.draws) return Severity::kError;
  return loss.misplaced > most_as_noise * loss.told ? Severity::kWarning : Severity::kNote;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const During<kHeld, Arrangements>& held) {
  if (held->losses.empty()) return absl::FailedPreconditionError(held->untried_targets);
  if (!held->order && !held->draws) return absl::FailedPreconditionError(held->untried_order);
  const auto count = static_cast<int64_t>(held->losses.size());
  Verdict verdict{.findings = {}, .judged = Counted(count, "loss function")};
  // Where places do not matter, whatever is paired stays paired.
  if (held->order && held->order->share <= HeldBound(settings, held->order->rounding)) {
    return verdict;
  }
  for (const Arrangements::Loss& loss : held->losses) {
    if (loss.misplaced == 0) continue;
    verdict.findings.push_back(
        {.severity = SeverityOf(*held, loss, settings[kMostAsNoise]),
         .message = StrCat("Targets came with other samples than the outputs that ", loss.name,
                           " compares them with: at least ", loss.misplaced, " in a batch, of the ",
                           loss.told, " of which that could be told."),
         .places = {{.thing = loss.name, .file = ""}},
         .first_step = loss.step,
         .last_step = loss.step,
         .count = Whole(loss.misplaced),
         .measured = loss.misplaced,
         .bound = 0});
  }
  return verdict;
}

// So many of 26 targets are misplaced; the gradient moves by this share of its norm when samples
// change places.
Evidence Misplaced(double targets, double share) {
  RunBuilder held;
  held.Process("held_order", "random");
  for (int step = 0; step < 4; ++step) AddStep(held, {.held = {}});
  held.Quantity(Quantity::kOrderSensitivity, "optimizer", "", share, 2e-7);
  held.Quantity(Quantity::kLossShare, "loss", "cross_entropy", 1, 32);
  held.Quantity(Quantity::kMisplacedTargets, "loss", "cross_entropy", targets, 26);
  Evidence evidence;
  evidence.Add(kPlain, TwoLayers().Build());
  evidence.Add(kHeld, held.Build());
  return evidence;
}

}  // namespace

Check InputTargetMismatch() {
  return {
      .id = "data/input_target_mismatch",
      .promise = "The target that an output is compared with came with the sample it is made of.",
      .why =
          "The model is asked for the labels of other samples. It learns how often each occurs "
          "and nothing else, or, where only some are misplaced, learns against noise.",
      .method =
          "One batch is held, and the weights with it. The samples are parted into two halves; "
          "the inputs of each change places among themselves, and then the targets of each: the "
          "outputs of one half alone must meet no targets of the other. Beside it, the gradient "
          "moves when samples change places together with their targets.",
      .fix =
          "Apply what sorts, shuffles, reverses, rolls or filters the inputs to the targets too, "
          "with the same indices; use transpose or permute, and not view, where axes change "
          "places.",
      .limits =
          "Needs --deep, one optimizer, batches of a DataLoader with a row for each sample, a loss "
          "of torch.nn.functional and targets that the model is not given. Silent about outputs "
          "made "
          "of several samples, inputs sorted by what they hold, and the data set itself. A warning "
          "at most where steps draw random numbers, which may deal labels anew on purpose; a note "
          "where the loader's order is not random, and where the loss is not seen to be minimised "
          "alone.",
      .sources = {"own reasoning: exact"},
      .covers = {"D04"},
      .explains = {"data/order_dependence", "learnability/cannot_overfit_one_batch",
                   "learnability/input_independence"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kHeldTimes, kHeldFloor, kMostAsNoise},
      .judgement = Reads<&Judge>(),
      .examples = {{"places in the batch do not matter", Expect::kClean,
                    [] { return Misplaced(1, 1e-5); }},
                   {"places matter, and one target is misplaced", Expect::kFaulty,
                    [] { return Misplaced(1, 2e-5); }},
                   {"places matter, and no target is misplaced", Expect::kClean,
                    [] { return Misplaced(0, 2e-5); }}},
  };
}

}  // namespace dlcheck::data
