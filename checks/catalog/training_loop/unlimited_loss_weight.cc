#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kUnlimitedWeight>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat("The exponential of a parameter of ",
                                Counted(static_cast<int64_t>(statement.value), "number"),
                                " multiplies terms of the loss, and nothing else uses it: the "
                                "smallest loss has weights of zero.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kUnlimitedWeight, "operation", "loss", value, aux, times);
}

}  // namespace

Check UnlimitedLossWeight() {
  return {
      .id = "training_loop/unlimited_loss_weight",
      .title = "Learned loss weights can fall to zero",
      .promise = "Something keeps the learned weights of a loss from zero.",
      .why =
          "The optimizer lowers the loss by its weights instead of by the model. In the "
          "end, the tasks train nothing.",
      .method =
          "Finds in the autograd graph a parameter of up to 16 numbers whose exponential, "
          "sigmoid or softplus multiplies terms of the loss. Reports one that has no other "
          "use.",
      .fix =
          "Add the logarithm: loss = (torch.exp(-s) * losses + s).sum(), with s the "
          "logarithms of the variances.",
      .limits = {.needs = "A program that multiplies losses by learned weights.",
                 .silent_when = "The weights are normalized by softmax.",
                 .severity = "Always a warning.",
                 .blind_spots = "Weights without a positive function.",
                 .sensitivity = ""},
      .python = {.bad = R"(s = nn.Parameter(torch.zeros(3))
loss = (torch.exp(-s) * losses).sum())",
                 .good = R"(s = nn.Parameter(torch.zeros(3))
loss = (torch.exp(-s) * losses + s).sum())"},
      .cpp = {.bad = R"(auto s = register_parameter("s", torch::zeros(3));
auto loss = (torch::exp(-s) * losses).sum();)",
              .good = R"(auto s = register_parameter("s", torch::zeros(3));
auto loss = (torch::exp(-s) * losses + s).sum();)"},
      .sources = {"Kendall, Gal and Cipolla 2018: the logarithm of the variance is a term of the "
                  "loss"},
      .covers = {"negligible-loss-term"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"weights with their logarithm", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"weights alone", Expect::kWarning, [] { return With(3, 0); }}},
  };
}

}  // namespace dlcheck::training_loop
