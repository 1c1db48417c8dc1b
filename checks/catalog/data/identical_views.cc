#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::data {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kIdenticalViews>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat("All ", Short(statement.value), " positives have the score ", Short(statement.aux),
               ", the largest of their row: both views of each sample are equal."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kIdenticalViews, "loss", "cross_entropy", value, aux, times);
}

}  // namespace

Check IdenticalViews() {
  return {
      .id = "data/identical_views",
      .title = "Both views of a sample are the same",
      .promise = "The two views of a sample differ.",
      .why =
          "The task is solved before training begins. The model learns nothing about what stays "
          "the same between views.",
      .method =
          "Compares the scores of a contrastive loss. Reports positives whose score is the largest "
          "that is possible, equal in all rows, in the first three compared steps.",
      .fix = "Draw each view by itself. Do not set the seed of an augmentation for each view.",
      .limits = {.needs =
                     "A program with a contrastive loss by cross_entropy() in single precision.",
                 .silent_when = "The outputs of different samples are equal, too.",
                 .severity = "Always a warning.",
                 .blind_spots = "Losses that are written without cross_entropy().",
                 .sensitivity = ""},
      .python = {.bad = R"(v1, v2 = augment(x, seed=step), augment(x, seed=step))",
                 .good = R"(v1, v2 = augment(x), augment(x))"},
      .cpp = {.bad = R"(auto first = Augment(x, /*seed=*/step);
auto second = Augment(x, /*seed=*/step);)",
              .good = R"(auto first = Augment(x, /*seed=*/2 * step);
auto second = Augment(x, /*seed=*/2 * step + 1);)"},
      .sources = {"Chen et al. 2020: SimCLR draws two augmentations for each sample"},
      .covers = {"identical-views"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"different views", Expect::kClean, [] { return With(64, 5, 0); }},
                   {"equal views", Expect::kWarning, [] { return With(64, 5); }}},
  };
}

}  // namespace dlcheck::data
