#include <cmath>

#include "checks/catalog/examples/constant_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss/initial_loss.h"
#include "checks/signals/loss/loss_curve.h"
#include "checks/signals/loss/mean_losses.h"

namespace dlcheck::learnability {
namespace {

constexpr Setting kShare{
    .name = "share",
    .value = 0.95,
    .low = 0,
    .high = 10,
    .unit = "1",
    .meaning = "smallest late loss over the loss of a constant prediction",
    .source =
        "measured: 91 healthy programs end at 0.55 or less, shuffled targets at 0.94 or more"};
constexpr Setting kLosses{.name = "losses",
                          .value = 96,
                          .low = 8,
                          .high = 1e9,
                          .unit = "recorded losses",
                          .meaning = "fewest losses for a finding",
                          .source = "own reasoning: learning begins after a plateau at times"};
constexpr Setting kSamples{.name = "samples",
                           .value = 24,
                           .low = 2,
                           .high = 1e6,
                           .unit = "samples",
                           .meaning = "fewest samples for the loss of a constant prediction",
                           .source = "own reasoning: fewer have a much smaller entropy"};
constexpr Setting kMost{
    .name = "most",
    .value = 1.3,
    .low = 1,
    .high = 100,
    .unit = "1",
    .meaning = "largest such share of a loss that is one of several terms",
    .source = "own reasoning: above it, the targets are others than those of the first steps"};
// The first loss is that of the known outputs and targets, without further terms.
constexpr double kSame = 0.25;

absl::Status FurtherTerms() {
  return absl::FailedPreconditionError("the loss has further terms or is not a mean");
}

// Why the loss of a constant prediction says nothing about this program; OK if it does.
absl::Status Judgeable(const Settings& settings, const InitialLoss& start, const LossCurve& loss) {
  if (start.pooled_samples < settings[kSamples] || !(start.pooled > 0)) {
    return absl::NotFoundError("the targets of too few samples were seen");
  }
  if (static_cast<double>(loss.points.size()) < settings[kLosses]) {
    if (loss.optimizers > 1) return absl::FailedPreconditionError("several optimizers step");
    return absl::NotFoundError(
        StrCat("only ", Counted(static_cast<int64_t>(loss.points.size()), "loss value"),
               " recorded, but ", settings[kLosses], " are needed"));
  }
  if (loss.is_contrastive() || (start.classes > 1 && start.classes == start.batch)) {
    return absl::FailedPreconditionError("as many classes as samples: a contrastive loss");
  }
  if (!(std::abs(loss.points.front().loss / (loss.share * start.initial) - 1) < kSame)) {
    return FurtherTerms();
  }
  return absl::OkStatus();
}

std::string Compared(int64_t steps, std::string_view loss, double late, double constant) {
  return StrCat("After ", steps, " steps ", loss, " was still ", Short(late),
                ". A constant prediction that ignores the input reaches ", Short(constant), ".");
}

// Of the losses that are terms of a sum. They may have targets of the program's own making.
absl::StatusOr<Verdict> JudgeTerms(const Settings& settings, const MeanLosses& terms) {
  Verdict verdict;
  int64_t judged = 0;
  for (const MeanLosses::Function& function : terms.functions) {
    const std::vector<MeanLosses::Point>& points = function.points;
    if (static_cast<double>(points.size()) < settings[kLosses] || function.is_contrastive()) {
      continue;
    }
    if (function.samples < settings[kSamples] || !(function.constant > 0)) continue;
    ++judged;
    const double late = function.LateMedian(), share = late / function.constant;
    if (!(share >= settings[kShare] && share <= settings[kMost])) continue;
    verdict.findings.push_back(
        {.severity = Severity::kNote,
         .message = Compared(points.back().step + 1, function.name, late, function.constant),
         .places = {{.thing = function.name, .file = ""}},
         .first_step = points[function.late_begin()].step,
         .last_step = points.back().step,
         .count = static_cast<int64_t>(points.size() - function.late_begin()),
         .measured = share,
         .bound = settings[kShare]});
  }
  if (judged == 0) return absl::NotFoundError("no term of the loss can be compared");
  verdict.judged = Counted(judged, "loss function");
  return verdict;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const InitialLoss& start,
                              const LossCurve& all, const IfSeen<MeanLosses>& terms) {
  const LossCurve loss = all.OfTheFirstOptimizer();
  absl::Status status = Judgeable(settings, start, loss);
  if (status.ok() && terms && !terms->functions.front().IsWhole(loss.points.front().loss))
    status = FurtherTerms();
  if (!status.ok()) {
    if (!terms || all.optimizers > 1) return status;
    absl::StatusOr<Verdict> verdict = JudgeTerms(settings, *terms);
    return verdict.ok() ? verdict : status;
  }
  const auto count = static_cast<int64_t>(loss.points.size());
  Verdict verdict{.findings = {}, .judged = Counted(count, "loss value")};
  const double late = loss.LateMedian(loss.points.size() / 4) / loss.share;
  const double share = late / start.pooled;
  if (share < settings[kShare]) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kWarning,
       .message = Compared(loss.points.back().step + 1, "the loss", late, start.pooled),
       .places = {},
       .first_step = loss.points[loss.points.size() * 3 / 4].step,
       .last_step = loss.points.back().step,
       .count = count / 4,
       .measured = share,
       .bound = settings[kShare]});
  return verdict;
}

}  // namespace

Check NoBetterThanConstant() {
  return {
      .id = "learnability/no_better_than_constant",
      .title = "The model learns no more than a constant",
      .promise = "Training beats a constant prediction that ignores the input.",
      .why =
          "The model has learned nothing from its inputs. Targets may belong to other samples, "
          "gradients may not reach the weights, or the learning rate may be wrong.",
      .method =
          "Computes the loss of the best constant prediction: class frequencies or the mean "
          "target. Takes the targets of the first batches, up to 256. Compares the median of the "
          "last quarter of losses. A loss that is one of several terms is compared by itself.",
      .fix =
          "Check that inputs and targets of a batch belong together. Run with --deep: it tests "
          "whether one batch can be learned and names what prevents it.",
      .limits =
          {.needs = "A loss of torch.nn with known targets, and 96 losses before a second "
                    "optimizer steps.",
           .silent_when =
               "Weights were loaded. The loss is contrastive, or has further terms and several "
               "optimizers step.",
           .severity = "Warning, and a note where the loss is one of several terms.",
           .blind_spots = "",
           .sensitivity = ""},
      .python = {.bad = R"(order = torch.randperm(len(images))
images = images[order]  # the labels stay where they are
for x, y in zip(images.split(32), labels.split(32)):
    train_step(x, y))",
                 .good = R"(order = torch.randperm(len(images))
images, labels = images[order], labels[order]
for x, y in zip(images.split(32), labels.split(32)):
    train_step(x, y))"},
      .cpp = {.bad = R"(auto order = torch::randperm(images.size(0));
images = images.index({order});  // the labels stay where they are)",
              .good = R"(auto order = torch::randperm(images.size(0));
images = images.index({order});
labels = labels.index({order});)"},
      .sources = {"measured: tests/planting"},
      .covers = {"mispaired-targets"},
      .explains = {"training_loop/diverging_loss", "training_loop/flat_loss"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kShare, kLosses, kSamples, kMost},
      .judgement = Reads<&Judge>(),
      .examples = {{"a loss a tenth lower", Expect::kClean, [] { return Ending(2.07); }},
                   {"a term a tenth lower", Expect::kClean, [] { return Term(2.07); }},
                   {"a term with other targets than at first", Expect::kClean,
                    [] { return Term(2.28, 1); }},
                   {"a term that stays", Expect::kNote, [] { return Term(2.28); }},
                   {"four samples a batch, and a loss a tenth lower", Expect::kClean,
                    [] { return Ending(2.07, 0, 4, 252); }},
                   {"four samples a batch, and a loss that stays", Expect::kWarning,
                    [] { return Ending(2.28, 0, 4, 252); }},
                   {"a loss that stays, and another training after it", Expect::kWarning,
                    [] { return Ending(2.28, 2); }},
                   {"a loss that stays", Expect::kWarning, [] { return Ending(2.28); }}},
  };
}

}  // namespace dlcheck::learnability
