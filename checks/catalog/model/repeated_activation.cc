#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&,
                              const Stated<Quantity::kRepeatedActivation>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const bool changes_nothing = statement.name == "relu";
    verdict.findings.push_back(StatementFinding(
        statement, changes_nothing ? Severity::kNote : Severity::kWarning,
        StrCat(statement.name, " takes the result of another ", statement.name,
               changes_nothing ? ": the second one changes nothing."
                               : ": the second one flattens values and gradients.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kRepeatedActivation, "operation", "sigmoid", value, aux, times);
}

}  // namespace

Check RepeatedActivation() {
  return {
      .id = "model/repeated_activation",
      .title = "An activation is applied twice",
      .promise = "No activation takes the output of the same activation.",
      .why =
          "A second sigmoid, tanh or softmax flattens the values and their gradients. A second "
          "ReLU changes nothing.",
      .method =
          "Reads the autograd graphs of the first three steps of each model. Reports an activation "
          "function whose input is the result of the same function.",
      .fix = "Apply the activation once: remove it from the layer or from forward().",
      .limits = {.needs = "A Python program whose modules are not compiled, or a C++ program that "
                          "is watched as it is.",
                 .silent_when = "",
                 .severity = "A note for ReLU, a warning for sigmoid, tanh and softmax.",
                 .blind_spots = "Two different activations one after the other.",
                 .sensitivity = ""},
      .python = {.bad = R"(h = torch.sigmoid(self.hidden(x))
h = torch.sigmoid(h)
return self.head(h))",
                 .good = R"(h = torch.sigmoid(self.hidden(x))
return self.head(h))"},
      .cpp = {.bad = R"(auto h = torch::sigmoid(hidden(x));
return head(torch::sigmoid(h));)",
              .good = R"(auto h = torch::sigmoid(hidden(x));
return head(h);)"},
      .sources = {"own reasoning: relu(relu(x)) is relu(x); softmax of a softmax has ratios of at "
                  "most e"},
      .covers = {"redundant-activation"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kModuleBuilt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"activations applied once", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a sigmoid of a sigmoid", Expect::kWarning, [] { return With(1, 0); }}},
  };
}

}  // namespace dlcheck::model
