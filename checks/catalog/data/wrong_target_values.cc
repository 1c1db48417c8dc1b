#include <utility>

#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::data {
namespace {

// "takes targets of -1 and 1" and what the others are.
std::pair<std::string, std::string> TakenBy(const std::string& function) {
  if (function == "ctc_loss") return {"takes no blank among its targets", "the blank"};
  if (function == "kl_div") return {"takes probabilities as targets", "negative"};
  if (function == "poisson_nll_loss") return {"takes no negative targets", "negative"};
  return {"takes targets of -1 and 1", "others"};
}

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kWrongTargets>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const auto [takes, are] = TakenBy(statement.name);
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kError,
                         StrCat(statement.name, " ", takes, ", but ", Short(100 * statement.value),
                                " % of ", statement.aux, " targets are ", are, "."),
                         statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1,
              const std::string& function = "cosine_embedding_loss") {
  return Stating(Quantity::kWrongTargets, "loss", function, value, aux, times);
}

}  // namespace

Check WrongTargetValues() {
  return {
      .id = "data/wrong_target_values",
      .title = "The loss does not take such targets",
      .promise = "Targets have the values that their loss function takes.",
      .why =
          "The function takes such a target for something else. A 0 in the place of -1 makes the "
          "loss of its sample a constant, and a blank cannot be told from a symbol.",
      .method =
          "Looks at the targets of margin_ranking_loss, hinge_embedding_loss, "
          "cosine_embedding_loss, soft_margin_loss, poisson_nll_loss, ctc_loss and kl_div.",
      .fix =
          "Convert the targets: 2 * y - 1 for labels of 0 and 1. For ctc_loss, number the "
          "symbols from 1 on, or pass blank=. For kl_div with log-probabilities as targets, "
          "pass log_target=True.",
      .limits = {.needs = "A program, and targets on the CPU or CUDA.",
                 .silent_when = "",
                 .severity = "Always an error.",
                 .blind_spots = "Losses that are written by hand.",
                 .sensitivity = ""},
      .python = {.bad = R"(y = (a_label == b_label).long()  # 0 or 1
loss = F.cosine_embedding_loss(model(a), model(b), y))",
                 .good = R"(y = 2 * (a_label == b_label).long() - 1  # -1 or 1
loss = F.cosine_embedding_loss(model(a), model(b), y))"},
      .cpp = {.bad = R"(auto same = (a_label == b_label).to(torch::kLong);  // 0 or 1
auto loss = F::cosine_embedding_loss(a, b, same);)",
              .good = R"(auto same = 2 * (a_label == b_label).to(torch::kLong) - 1;  // -1 or 1
auto loss = F::cosine_embedding_loss(a, b, same);)"},
      .sources = {"PyTorch documentation of these functions: shapes and values of target"},
      .covers = {"invalid-class-labels"},
      .explains = {"numerics/nonfinite_values"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"targets that it takes", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"zeros in the place of minus one", Expect::kError,
                    [] { return With(0.5, 64); }},
                   {"log-probabilities in the place of probabilities", Expect::kError,
                    [] { return With(1, 64, 1, "kl_div"); }}},
  };
}

}  // namespace dlcheck::data
