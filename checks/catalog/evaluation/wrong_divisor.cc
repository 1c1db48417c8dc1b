#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::evaluation {
namespace {

constexpr double kMeansBySamples = 2;  // the other kind: counts of samples by the number of batches

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kWrongDivisor>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const std::string said =
        statement.value == kMeansBySamples
            ? " sums the means of batches, and is divided by the number of samples. The result is "
              "too small by the batch size, "
            : " sums over samples, and is divided by the number of batches. The result is too "
              "large by the batch size, ";
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat(statement.name, said, Short(statement.aux), "."), statement.name));
  }
  return verdict;
}

Evidence With(double kind, int times = 1) {
  return Stating(Quantity::kWrongDivisor, "variable", "total", kind, 64, times);
}

}  // namespace

Check WrongDivisor() {
  return {
      .id = "evaluation/wrong_divisor",
      .title = "A metric is divided by a wrong number",
      .promise =
          "A sum over samples is divided by their number, one of batch means by that of "
          "batches.",
      .why = "The number is wrong by a factor, and cannot be compared with other programs.",
      .method =
          "Reads from the program's source what a loop over batches adds up, and by what it "
          "divides the sum. Whether a loss gives a mean or a sum is seen.",
      .fix = "Divide a sum of batch means by len(loader), and a sum over samples by their number.",
      .limits =
          {.needs =
               "A Python program whose source can be read, with batches of two samples or more.",
           .silent_when = "It is not sure what the divisor counts.",
           .severity = "Always a warning.",
           .blind_spots = "Sums that another function or file divides.",
           .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:
    total += F.cross_entropy(model(x), y).item()  # a mean
print(total / len(loader.dataset)))",
                 .good = R"(for x, y in loader:
    total += F.cross_entropy(model(x), y).item() * len(x)
print(total / len(loader.dataset)))"},
      .cpp = {},
      .sources = {"own reasoning: a mean is a sum divided by how many it sums"},
      .covers = {"wrong-metric-normalizer"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no such division", Expect::kClean, [] { return With(2, 0); }},
                   {"means by samples", Expect::kWarning, [] { return With(2); }},
                   {"sums by batches", Expect::kWarning, [] { return With(3); }}},
  };
}

}  // namespace dlcheck::evaluation
