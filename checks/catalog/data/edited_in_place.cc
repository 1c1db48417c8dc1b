#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::data {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kEditedSamples>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat("Samples changed in place by the same factor and shift in each pass, seen ",
               Counted(static_cast<int64_t>(statement.value), "time"), ".")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kEditedSamples, "batch", "input", value, aux, times);
}

}  // namespace

Check EditedInPlace() {
  return {
      .id = "data/edited_in_place",
      .title = "The data set is changed in place in every pass",
      .promise = "A sample has the same numbers each time that it is used, or random ones.",
      .why =
          "An operation in place, such as x -= mean, writes into the data set. Each pass then "
          "normalizes what is normalized already.",
      .method =
          "Compares a few samples with what they held in earlier passes. Reports those that "
          "change twice by the same factor and shift.",
      .fix = "Write x = x - mean in the place of x -= mean, or copy the sample first.",
      .limits = {.needs = "A Python program that goes over its data three times.",
                 .silent_when = "The changes differ from pass to pass, as those of augmentation "
                                "do.",
                 .severity = "Always a warning.",
                 .blind_spots = "Data sets in worker processes, and integers.",
                 .sensitivity = ""},
      .python = {.bad = R"(def __getitem__(self, i):
    x = self.images[i]
    x /= 255
    return x, self.labels[i])",
                 .good = R"(def __getitem__(self, i):
    x = self.images[i] / 255
    return x, self.labels[i])"},
      .cpp = {},
      .sources = {"own reasoning: indexing a tensor by an integer or a slice gives a view"},
      .covers = {"unintended-in-place-edit"},
      .explains = {"learnability/no_better_than_constant", "gradients/vanishing",
                   "numerics/nonfinite_values"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .also_at = {Event::kFetched},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"samples that stay", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"samples that shrink", Expect::kWarning, [] { return With(12, 0); }}},
  };
}

}  // namespace dlcheck::data
