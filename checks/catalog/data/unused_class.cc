#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::data {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kUnusedClass>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (statement.value < 0) continue;
    const bool only_first = statement.aux == 0;
    verdict.findings.push_back(StatementFinding(
        statement, only_first ? Severity::kWarning : Severity::kNote,
        only_first ? std::string("No target has class 0, and every other class occurs: labels that "
                                 "begin with 1 are off by one.")
                   : StrCat("No target has class ", statement.value,
                            ": the outputs reach to class ", statement.aux, " or further."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kUnusedClass, "loss", "cross_entropy", value, aux, times);
}

}  // namespace

Check UnusedClass() {
  return {
      .id = "data/unused_class",
      .title = "A class never occurs among the targets",
      .promise = "Every class that the model has an output for occurs among the targets.",
      .why =
          "Labels that begin with 1 leave class 0 without a target, and the last class may be "
          "cut off. Outputs without targets only learn to be small.",
      .method =
          "Counts the classes of the targets of cross_entropy and nll_loss in recorded "
          "steps, until there are 30 targets a class.",
      .fix =
          "Subtract 1 from the labels, or give the last layer as many outputs as there are "
          "classes.",
      .limits = {.needs = "A Python program, or a C++ program that is watched as it is. One class "
                          "for each sample, and 30 targets a class on the CPU or CUDA.",
                 .silent_when = "The loss ignores a class by ignore_index, or there are over 1000 "
                                "classes.",
                 .severity = "A warning if class 0 alone never occurs, else a note.",
                 .blind_spots = "Targets of one class for each position.",
                 .sensitivity = ""},
      .python = {.bad = R"(labels = torch.tensor(table["grade"])  # 1 to 5
head = nn.Linear(64, 6)
loss = F.cross_entropy(head(h), labels))",
                 .good = R"(labels = torch.tensor(table["grade"]) - 1
head = nn.Linear(64, 5)
loss = F.cross_entropy(head(h), labels))"},
      .cpp = {.bad = R"(auto labels = grades;  // 1 to 5
nn::Linear head(64, 6);
auto loss = F::cross_entropy(head(h), labels);)",
              .good = R"(auto labels = grades - 1;
nn::Linear head(64, 5);
auto loss = F::cross_entropy(head(h), labels);)"},
      .sources = {"PyTorch documentation of cross_entropy: classes begin with 0"},
      .covers = {"invalid-class-labels", "unpredicted-classes"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kUsed,
      .also_at = {Event::kModuleBuilt, Event::kFetched},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"all classes occur", Expect::kClean, [] { return With(-1, -1); }},
                   {"classes beyond those of the data", Expect::kNote, [] { return With(10, 15); }},
                   {"labels that begin with 1", Expect::kWarning, [] { return With(0, 0); }}},
  };
}

}  // namespace dlcheck::data
