#include <algorithm>

#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::training_loop {
namespace {

constexpr int64_t kOften = 3, kRecorded = 64;  // steps

absl::StatusOr<Verdict> Judge(const Settings&,
                              const Stated<Quantity::kFrozenInTrainingMode>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (statement.count < kOften || 4 * statement.last_step < std::min(stated.steps, kRecorded) - 1)
      continue;
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat(statement.name == "network" ? "A network" : statement.name,
                                " runs in training mode with dropout or batch normalization, but ",
                                "nothing trains it.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kFrozenInTrainingMode, "network", "Teacher", value, aux, times);
}

}  // namespace

Check TeacherInTrainMode() {
  return {
      .id = "training_loop/teacher_in_train_mode",
      .title = "A frozen network runs in training mode",
      .promise = "A network that nothing trains runs in evaluation mode.",
      .why =
          "Its dropout makes each output random, and its batch normalization depends on the "
          "other samples. Targets from it are noise.",
      .method =
          "Watches networks with dropout or batch normalization that are called in training mode. "
          "Reports one that is called without gradients while its weights stay the same, also "
          "after it was trained and frozen. Also reports one that no backward reached for 64 "
          "steps.",
      .fix = "Call teacher.eval() once before training.",
      .limits = {.needs = "A program with an optimizer step.",
                 .silent_when = "The weights change, as those of a moving average. Fewer than "
                                "three recorded steps call the network.",
                 .severity = "Always a warning: noise may be meant.",
                 .blind_spots = "Networks on an accelerator, and functions in the place of "
                                "modules.",
                 .sensitivity = ""},
      .python = {.bad = R"(with torch.no_grad():
    target = teacher(x))",
                 .good = R"(teacher.eval()
with torch.no_grad():
    target = teacher(x))"},
      .cpp = {.bad = R"(torch::NoGradGuard no_grad;
auto target = teacher(x);)",
              .good = R"(teacher->eval();
torch::NoGradGuard no_grad;
auto target = teacher(x);)"},
      .sources = {"PyTorch documentation of torch.nn.Dropout and torch.nn.BatchNorm2d: what "
                  "training mode does"},
      .covers = {"trained-teacher"},
      .explains = {"learnability/no_better_than_constant"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"networks in evaluation mode", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"called before training", Expect::kClean, [] { return With(2, 0, 2); }},
                   {"in each step", Expect::kWarning, [] { return With(16, 0, 16); }}},
  };
}

}  // namespace dlcheck::training_loop
