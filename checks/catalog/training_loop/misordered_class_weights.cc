#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kMisorderedWeights>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat("The weights of ", statement.name, " are the inverse counts of its ", statement.aux,
               " classes, but in another order: some classes count ", Short(statement.value),
               " times as much as others."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kMisorderedWeights, "loss", "cross_entropy", value, aux, times);
}

}  // namespace

Check MisorderedClassWeights() {
  return {
      .id = "training_loop/misordered_class_weights",
      .title = "Class weights are in another order than classes",
      .promise = "Each class has the weight that was computed from its own count.",
      .why =
          "Weights of inverse counts make all classes count alike. In another order they "
          "can make a rare class count even less.",
      .method =
          "Multiplies each class weight by the count of its class. Reports products that "
          "differ by a factor of 3, and by no more than noise in the best order.",
      .fix =
          "Compute the weights in the order of the classes: weight = counts.sum() / "
          "torch.bincount(y, minlength=classes).",
      .limits = {.needs = "A program, weights of three classes or more, and 30 targets a class on "
                          "the CPU or CUDA.",
                 .silent_when = "The largest class is less than twice the smallest.",
                 .severity = "Always a warning.",
                 .blind_spots = "Other weights than inverse counts.",
                 .sensitivity = ""},
      .python = {.bad = R"(counts = Counter(labels).most_common()  # sorted by count
weight = torch.tensor([len(labels) / n for _, n in counts])
loss = F.cross_entropy(model(x), y, weight=weight))",
                 .good = R"(counts = torch.bincount(labels, minlength=classes)
weight = len(labels) / counts
loss = F.cross_entropy(model(x), y, weight=weight))"},
      .cpp = {.bad = R"(auto counts = std::get<0>(torch::bincount(y).sort());  // sorted by count
auto options = F::CrossEntropyFuncOptions().weight(y.numel() / counts);
auto loss = F::cross_entropy(model->forward(x), y, options);)",
              .good = R"(auto counts = torch::bincount(y);
auto options = F::CrossEntropyFuncOptions().weight(y.numel() / counts);
auto loss = F::cross_entropy(model->forward(x), y, options);)"},
      .sources = {"own reasoning: with weights of the inverse counts, all products are equal"},
      .covers = {"misassigned-class-weights"},
      .explains = {"training_loop/inverted_class_weights"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"weights in order", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"weights sorted by count", Expect::kWarning, [] { return With(57, 5); }}},
  };
}

}  // namespace dlcheck::training_loop
