#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kLinearPair>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat("Nothing nonlinear lies between two layers of ", statement.name,
                                " features: together they are one linear layer.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kLinearPair, "operation", "64 to 128 to 10", value, aux, times);
}

}  // namespace

Check MissingActivation() {
  return {
      .id = "model/missing_activation",
      .title = "No activation between two linear layers",
      .promise = "Something nonlinear lies between two trained layers that follow each other.",
      .why =
          "Two linear layers with nothing nonlinear between them are one linear layer. The "
          "model has the cost of both and can express no more.",
      .method =
          "Reads the autograd graphs of the first three steps of each model. Reports a layer whose "
          "input "
          "is the output of another, apart from views, dropout, shifts and scales.",
      .fix = "Put an activation between the two layers, or use one layer.",
      .limits = {.needs =
                     "A Python program whose modules are not compiled, or a C++ program that is "
                     "watched as it is.",
                 .silent_when = "Fewer features lie between the layers than before and after: "
                                "that is a factorization. Another operation also takes the first "
                                "output.",
                 .severity = "Always a warning: the output of the first layer may be wanted as a "
                             "feature.",
                 .blind_spots = "Pairs with a normalization between them, convolutions of "
                                "kernel size 1, and a layer after torch's own attention.",
                 .sensitivity = ""},
      .python = {.bad = R"(self.net = nn.Sequential(
    nn.Linear(64, 128),
    nn.Linear(128, 10),
))",
                 .good = R"(self.net = nn.Sequential(
    nn.Linear(64, 128),
    nn.ReLU(),
    nn.Linear(128, 10),
))"},
      .cpp = {.bad = "nn::Sequential net(nn::Linear(64, 128), nn::Linear(128, 10));",
              .good =
                  R"(nn::Sequential net(nn::Linear(64, 128), nn::ReLU(), nn::Linear(128, 10));)"},
      .sources = {"linear algebra: a product of two matrices is a matrix"},
      .covers = {"missing-activation"},
      .explains = {"learnability/no_better_than_constant"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kModuleBuilt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"activations between all layers", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"two layers without one", Expect::kWarning, [] { return With(128, 10); }}},
  };
}

}  // namespace dlcheck::model
