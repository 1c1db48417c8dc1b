#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kTeacherClasses>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat(statement.value, " classes of the teacher in ", statement.name,
               " stand for another label each: with them exchanged, it agrees with ",
               Short(100 * statement.aux), " % of the labels."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kTeacherClasses, "loss", "kl_div", value, aux, times);
}

}  // namespace

Check MisorderedTeacher() {
  return {
      .id = "training_loop/misordered_teacher",
      .title = "The teacher's classes have another order",
      .promise = "A teacher numbers its classes as the labels of its student do.",
      .why =
          "The labels and the teacher then pull each sample to different classes. The "
          "student gets worse with each of both.",
      .method =
          "Counts which class the teacher prefers for each label. Reports classes that "
          "another label takes in 60 % of its samples, one for one.",
      .fix =
          "Bring the teacher's outputs into the order of the labels: teacher(x)[:, order]. "
          "Compare both class_to_idx.",
      .limits = {.needs = "A program with three classes or more, labels for the samples of the "
                          "teacher, and five samples a class on the CPU or CUDA.",
                 .silent_when =
                     "The teacher agrees with fewer than 70 % of the labels in any order.",
                 .severity = "Always a warning.",
                 .blind_spots = "Losses with a teacher that are written by hand.",
                 .sensitivity = ""},
      .python = {.bad = R"(soft = F.softmax(teacher(x), dim=1)  # trained with sorted names
loss = F.kl_div(F.log_softmax(model(x), dim=1), soft, reduction="batchmean")
loss = loss + F.cross_entropy(model(x), y))",
                 .good = R"(soft = F.softmax(teacher(x)[:, order], dim=1)
loss = F.kl_div(F.log_softmax(model(x), dim=1), soft, reduction="batchmean")
loss = loss + F.cross_entropy(model(x), y))"},
      .cpp = {.bad = R"(auto soft = torch::softmax(teacher(x), 1);  // trained with sorted names
auto loss = F::kl_div(torch::log_softmax(model(x), 1), soft);
loss = loss + F::cross_entropy(model(x), y);)",
              .good = R"(auto soft = torch::softmax(teacher(x).index_select(1, order), 1);
auto loss = F::kl_div(torch::log_softmax(model(x), 1), soft);
loss = loss + F::cross_entropy(model(x), y);)"},
      .sources = {"own reasoning: a teacher that is wrong in the same way for a whole class is not "
                  "wrong by chance"},
      .covers = {"teacher-with-other-classes"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"one order", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"four classes exchanged", Expect::kWarning, [] { return With(4, 0.93); }}},
  };
}

}  // namespace dlcheck::training_loop
