#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::gradients {
namespace {

constexpr int64_t kFewestSteps = 3;

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kGradientFactor>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (statement.count < kFewestSteps || statement.value < 1) continue;
    verdict.findings.push_back(StatementFinding(
        statement, statement.aux > 1 ? Severity::kNote : Severity::kWarning,
        StrCat("Between backward and step ", statement.last_step,
               ", the gradients were multiplied by ", Short(statement.value), ".")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kGradientFactor, "optimizer", "", value, aux, times);
}

}  // namespace

Check MultipliedGradients() {
  return {
      .id = "gradients/multiplied_gradients",
      .title = "Gradients are multiplied before the step",
      .promise =
          "A step uses the gradients that backward computed, apart from clipping and "
          "averaging.",
      .why =
          "A factor on all gradients acts like another learning rate, and clipping and "
          "momentum work with wrong sizes.",
      .method =
          "Compares the first gradient of each optimizer after the last backward with the "
          "same gradient as the step begins.",
      .fix = "Remove the factor. Change the learning rate where a larger step is meant.",
      .limits = {.needs = "Gradients on the CPU, or of a Python program on CUDA, and three steps.",
                 .silent_when = "The factor is below 1, as for an average, or gradients of a "
                                "Python program were clipped.",
                 .severity =
                     "A warning, and a note beside a second optimizer, as to undo the weight of a "
                     "loss term.",
                 .blind_spots = "Factors inside backward, as by a hook of a tensor.",
                 .sensitivity = ""},
      .python = {.bad = R"(loss.backward()
for p in model.parameters():
    p.grad *= 10
optimizer.step())",
                 .good = R"(loss.backward()
optimizer.step())"},
      .cpp = {.bad = R"(loss.backward();
for (auto& p : model->parameters()) p.mutable_grad().mul_(10);
optimizer.step();)",
              .good = R"(loss.backward();
optimizer.step();)"},
      .sources = {"own reasoning: backward gives the gradients of the loss"},
      .covers = {"constant-gradient-factor"},
      .explains = {"gradients/exploding", "optimizer/lr_too_large", "gradients/gradient_mismatch"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"gradients as they are", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"in one step", Expect::kClean, [] { return With(10, 1); }},
                   {"a factor in each step", Expect::kWarning, [] { return With(10, 1, 8); }},
                   {"of one of two optimizers", Expect::kNote, [] { return With(20, 2, 8); }}},
  };
}

}  // namespace dlcheck::gradients
