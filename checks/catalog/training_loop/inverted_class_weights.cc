#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

constexpr double kSameOrder = 0.9;

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kClassWeightOrder>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (statement.value < kSameOrder) continue;
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat("The weights of the ", statement.aux, " classes grow with their frequency (rank ",
               "correlation ", Short(statement.value), "), so rare classes count least."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kClassWeightOrder, "loss", "cross_entropy", value, aux, times);
}

}  // namespace

Check InvertedClassWeights() {
  return {
      .id = "training_loop/inverted_class_weights",
      .title = "Frequent classes have the largest weights",
      .promise = "The weights that a loss has for its classes do not grow with their frequency.",
      .why =
          "Class weights are there to make rare classes count. Weights that equal the "
          "frequencies make them count even less.",
      .method =
          "Compares the order of the weights given to cross_entropy or nll_loss with the "
          "order of the class counts.",
      .fix =
          "Use the inverse of the counts: weight = counts.sum() / counts. Check that weights "
          "and classes have the same order.",
      .limits = {.needs = "A program, class weights, and 30 targets a class on the CPU or CUDA.",
                 .silent_when = "The largest class is less than twice the smallest, or the two "
                                "orders differ clearly.",
                 .severity = "Always a warning: a program may favor frequent classes on purpose.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(weight = counts / counts.sum()
loss = F.cross_entropy(model(x), y, weight=weight))",
                 .good = R"(weight = counts.sum() / counts
loss = F.cross_entropy(model(x), y, weight=weight))"},
      .cpp = {.bad = R"(auto options = F::CrossEntropyFuncOptions().weight(counts / counts.sum());
auto loss = F::cross_entropy(model->forward(x), y, options);)",
              .good = R"(auto options = F::CrossEntropyFuncOptions().weight(counts.sum() / counts);
auto loss = F::cross_entropy(model->forward(x), y, options);)"},
      .sources = {"own reasoning: with weights of the inverse counts, all classes count alike"},
      .covers = {"misassigned-class-weights"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kUsed,
      .also_at = {Event::kModuleBuilt},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"weights of the inverse counts", Expect::kClean, [] { return With(-1, 5); }},
                   {"weights that follow the counts", Expect::kWarning, [] { return With(1, 5); }}},
  };
}

}  // namespace dlcheck::training_loop
