#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kStrongDropout>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat(statement.name, " drops ", Short(100 * statement.value), " % of its input."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kStrongDropout, "module", "drop", value, aux, times);
}

}  // namespace

Check StrongDropout() {
  return {
      .id = "model/strong_dropout",
      .title = "Dropout drops nearly everything",
      .promise = "A dropout layer keeps more than a tenth of its input.",
      .why =
          "The rest is scaled up ten times and more. The gradient is mostly noise, and the "
          "layers before it hardly learn.",
      .method = "Reads the probability of each dropout layer when its model is first called.",
      .fix = "Lower p. It is the probability to drop, not to keep: nn.Dropout(0.1) drops a tenth.",
      .limits =
          {.needs = "A Python program with an optimizer step, or a C++ program that is "
                    "watched as it is.",
           .silent_when = "The probability is below 0.9.",
           .severity = "Always a warning: the probability may be meant.",
           .blind_spots =
               "Calls of F.dropout. In C++, all calls of torch::dropout in a model but the first.",
           .sensitivity = ""},
      .python = {.bad = R"(keep = 0.9
self.drop = nn.Dropout(keep))",
                 .good = R"(drop = 0.1
self.drop = nn.Dropout(drop))"},
      .cpp = {.bad = R"(const double keep = 0.9;
nn::Dropout dropout(keep);)",
              .good = R"(const double rate = 0.1;
nn::Dropout dropout(rate);)"},
      .sources = {"PyTorch documentation of torch.nn.Dropout: p is the probability of a zero"},
      .covers = {"unsuitable-dropout"},
      .explains = {"learnability/no_better_than_constant"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kModuleBuilt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"usual dropout", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"dropout of nine tenths", Expect::kWarning, [] { return With(0.9, 0); }}},
  };
}

}  // namespace dlcheck::model
