#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::optimizer {
namespace {

constexpr int64_t kOften = 3;  // times that it was looked at
constexpr double kUsual = 1e-6;

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kEpsilonShare>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const bool zero = statement.value > 1;
    if (!zero && (statement.count < kOften || 4 * statement.last_step < stated.steps - 1)) continue;
    const bool is_chosen = !zero && statement.aux > kUsual;
    verdict.findings.push_back(StatementFinding(
        statement, is_chosen ? Severity::kNote : Severity::kWarning,
        zero ? StrCat("The precision of the optimizer's state rounds its epsilon of ",
                      Short(statement.aux), " to zero.")
             : StrCat("In ", Short(100 * statement.value), " % of the entries the epsilon of ",
                      Short(statement.aux), " is larger than the gradient.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kEpsilonShare, "optimizer", "", value, aux, times);
}

}  // namespace

Check UnsuitableEpsilon() {
  return {
      .id = "optimizer/unsuitable_epsilon",
      .title = "The epsilon of the optimizer is too large",
      .promise = "The epsilon of an adaptive optimizer is small beside the size of the gradients.",
      .why =
          "With a larger epsilon, Adam divides by a constant: it is SGD with another learning "
          "rate. An epsilon that rounds to zero leaves 0 / 0.",
      .method =
          "Compares epsilon with the root of the running mean of squared gradients, at "
          "steps 0, 1, 2, 4, 8 and so on.",
      .fix =
          "Leave eps at its default, scale a loss up that has tiny gradients, or keep the "
          "optimizer's state in float32.",
      .limits =
          {.needs =
               "A Python program with Adam, AdamW, RMSprop or Adagrad on the CPU or CUDA. Or a "
               "C++ program that is watched as it is, with Adam or AdamW on the CPU.",
           .silent_when = "One entry in a hundred is larger than epsilon.",
           .severity = "A note where epsilon is above 1e-6, which is then chosen. Otherwise "
                       "a warning.",
           .blind_spots = "",
           .sensitivity = ""},
      .python = {.bad = R"(optimizer = torch.optim.Adam(model.parameters(), eps=1))",
                 .good = R"(optimizer = torch.optim.Adam(model.parameters()))"},
      .cpp = {.bad = R"(auto options = torch::optim::AdamOptions(1e-3).eps(1);
torch::optim::Adam optimizer(model->parameters(), options);)",
              .good = R"(auto options = torch::optim::AdamOptions(1e-3);
torch::optim::Adam optimizer(model->parameters(), options);)"},
      .sources = {"Kingma and Ba 2015: epsilon only keeps the division finite"},
      .covers = {"unsuitable-epsilon"},
      .explains = {"optimizer/negligible_updates", "learnability/no_better_than_constant"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kOptimizerBuilt,
      .also_at = {Event::kOptimizerBuilt},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a small epsilon", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"small gradients at the start", Expect::kClean,
                    [] { return With(1, 1e-8, 2); }},
                   {"an epsilon of one", Expect::kNote, [] { return With(1, 1, 16); }},
                   {"tiny gradients", Expect::kWarning, [] { return With(1, 1e-8, 16); }},
                   {"an epsilon of zero", Expect::kWarning, [] { return With(2, 1e-8); }}},
  };
}

}  // namespace dlcheck::optimizer
