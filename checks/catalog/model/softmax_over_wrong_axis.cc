#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kMisplacedClasses>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kError,
        StrCat(statement.name, " takes its classes on axis 1, but a softmax over axis ",
               statement.value, " of ", statement.aux, " made its log-probabilities."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kMisplacedClasses, "loss", "nll_loss", value, aux, times);
}

}  // namespace

Check SoftmaxOverWrongAxis() {
  return {
      .id = "model/softmax_over_wrong_axis",
      .title = "Softmax runs over another axis than the classes",
      .promise = "The log-probabilities of a loss are normalized over its classes.",
      .why =
          "The probabilities of the classes of one pixel or position then do not sum to 1. "
          "The loss can fall without a better prediction.",
      .method =
          "Follows the axis of the classes from nll_loss back to the softmax in the "
          "autograd graph.",
      .fix =
          "Give softmax or log_softmax dim=1, the axis of the classes. Or pass the raw "
          "scores to cross_entropy.",
      .limits = {.needs = "A program that calls nll_loss on scores with three axes or more.",
                 .silent_when = "",
                 .severity = "Always an error.",
                 .blind_spots = "Axes that a view merges on the way.",
                 .sensitivity = ""},
      .python = {.bad = R"(logits = net(x)  # batch, classes, height, width
loss = F.nll_loss(F.log_softmax(logits, dim=-1), y))",
                 .good = R"(logits = net(x)  # batch, classes, height, width
loss = F.nll_loss(F.log_softmax(logits, dim=1), y))"},
      .cpp = {.bad = R"(auto logits = net->forward(x);  // batch, classes, height, width
auto loss = F::nll_loss(torch::log_softmax(logits, -1), y);)",
              .good = R"(auto logits = net->forward(x);  // batch, classes, height, width
auto loss = F::nll_loss(torch::log_softmax(logits, 1), y);)"},
      .sources = {"PyTorch documentation of torch.nn.NLLLoss: classes are axis 1"},
      .covers = {"classes-on-another-axis"},
      .explains = {"learnability/no_better_than_constant", "initialization/wrong_initial_loss",
                   "model/nll_without_log_softmax"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no other axis", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a softmax over the width", Expect::kError, [] { return With(3, 4); }}},
  };
}

}  // namespace dlcheck::model
