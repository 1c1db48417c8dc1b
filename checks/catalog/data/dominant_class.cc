#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::data {
namespace {

constexpr double kMost = 0.9;

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kLargestClass>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (statement.value < kMost) continue;
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kNote,
        StrCat(static_cast<int>(100 * statement.value), " % of ", statement.aux,
               " targets have one class: a constant prediction reaches that accuracy."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kLargestClass, "loss", "cross_entropy", value, aux, times);
}

}  // namespace

Check DominantClass() {
  return {
      .id = "data/dominant_class",
      .title = "Nearly all targets have one class",
      .promise = "No class holds nine tenths of the targets.",
      .why =
          "A constant prediction then already has a high accuracy, and the other classes "
          "hardly count in the loss.",
      .method =
          "Counts the classes of the targets of cross_entropy and nll_loss in recorded "
          "steps.",
      .fix =
          "Judge by a metric for each class, and weight the loss or sample the rare classes "
          "more often.",
      .limits = {.needs = "A Python program, or a C++ program that is watched as it is. One class "
                          "for each sample, and 30 targets a class on the CPU or CUDA.",
                 .silent_when = "The loss ignores a class by ignore_index, or there are over 1000 "
                                "classes.",
                 .severity = "Always a note: rare classes are common in real data.",
                 .blind_spots = "Targets of binary losses.",
                 .sensitivity = ""},
      .python = {.bad = R"(loss = F.cross_entropy(model(x), y)
accuracy = (model(x).argmax(1) == y).float().mean())",
                 .good = R"(weight = counts.sum() / counts
loss = F.cross_entropy(model(x), y, weight=weight))"},
      .cpp = {.bad = "auto loss = F::cross_entropy(model->forward(x), y);",
              .good = R"(auto options = F::CrossEntropyFuncOptions().weight(counts.sum() / counts);
auto loss = F::cross_entropy(model->forward(x), y, options);)"},
      .sources = {"own reasoning: a constant prediction reaches the share of the largest class"},
      .covers = {"unnoticed-class-imbalance"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kUsed,
      .also_at = {Event::kFetched},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"classes of equal size", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a class of 95 %", Expect::kNote, [] { return With(0.95, 3000); }}},
  };
}

}  // namespace dlcheck::data
