#include <cmath>

#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::evaluation {
namespace {

constexpr double kFactor = 8, kNotable = 3;

bool IsApart(const Statement& statement, double factor) {
  return statement.value > factor || statement.value < 1 / factor ||
         std::abs(statement.aux) >= factor;
}

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kEvaluationScale>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (!IsApart(statement, kNotable)) continue;
    verdict.findings.push_back(StatementFinding(
        statement, IsApart(statement, kFactor) ? Severity::kWarning : Severity::kNote,
        StrCat("The spread of the evaluation inputs is ", Short(statement.value),
               " times that of the training inputs, and their mean is ", Short(statement.aux),
               " standard deviations away.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kEvaluationScale, "model", "net", value, aux, times);
}

}  // namespace

Check DifferentInputScale() {
  return {
      .id = "evaluation/different_input_scale",
      .title = "Evaluation inputs have another scale",
      .promise =
          "The inputs of an evaluation have about the mean and spread of the training "
          "inputs.",
      .why =
          "A model that is trained on normalized inputs gives nonsense for raw ones. The "
          "evaluation then measures the preprocessing.",
      .method =
          "Compares mean and standard deviation of the first inputs of each evaluation with those "
          "of the training batches before it.",
      .fix = "Use the same normalization for both, with the statistics of the training data.",
      .limits = {.needs =
                     "An evaluation, and inputs of fractions on the CPU, or of a Python program on "
                     "CUDA.",
                 .silent_when = "The spread differs by less than a factor of 3 and the mean by "
                                "less than 3 standard deviations.",
                 .severity =
                     "Warning from 8 on, note from 3 on: data of another kind may be meant.",
                 .blind_spots = "Smaller differences, and inputs beyond the first.",
                 .sensitivity = ""},
      .python = {.bad = R"(train = ImageFolder("train", Compose([ToTensor(), Normalize(mean, std)]))
test = ImageFolder("test", PILToTensor()))",
                 .good = R"(transform = Compose([ToTensor(), Normalize(mean, std)])
train = ImageFolder("train", transform)
test = ImageFolder("test", transform))"},
      .cpp = {.bad = R"(auto train = (train_images.to(torch::kFloat) - mean) / deviation;
auto test = test_images.to(torch::kFloat);)",
              .good = R"(auto train = (train_images.to(torch::kFloat) - mean) / deviation;
auto test = (test_images.to(torch::kFloat) - mean) / deviation;)"},
      .sources = {"own reasoning: 255 against 1, the two usual ranges of images, differ by more"},
      .covers = {"mismatched-eval-transforms"},
      .explains = {"evaluation/nondeterministic"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .also_at = {Event::kFetched},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"inputs alike", Expect::kClean, [] { return With(1.1, 0.1); }},
                   {"less than a factor of three", Expect::kClean, [] { return With(0.4, 2); }},
                   {"images without Normalize()", Expect::kNote, [] { return With(0.22, 0.45); }},
                   {"raw images", Expect::kWarning, [] { return With(255, 127); }},
                   {"shifted inputs", Expect::kWarning, [] { return With(1, -40); }}},
  };
}

}  // namespace dlcheck::evaluation
