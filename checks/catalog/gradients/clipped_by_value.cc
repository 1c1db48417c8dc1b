#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::gradients {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kClippedByValue>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kNote,
                         StrCat("Each entry of the gradients is cut off at ",
                                Short(statement.value), ", which changes their direction.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kClippedByValue, "clip", "value", value, aux, times);
}

}  // namespace

Check ClippedByValue() {
  return {
      .id = "gradients/clipped_by_value",
      .title = "Gradients are clipped by value",
      .promise = "Clipping keeps the direction of the gradient.",
      .why =
          "clip_grad_value_ cuts each entry off by itself, so the gradient changes its "
          "direction. clip_grad_norm_ scales all entries alike.",
      .method = "Watches torch.nn.utils.clip_grad_value_.",
      .fix = "Use torch.nn.utils.clip_grad_norm_ with a bound for the norm of all gradients.",
      .limits = {.needs = "A Python program, or a C++ program that is watched as it is, with an "
                          "optimizer step.",
                 .silent_when = "The program clips by itself.",
                 .severity = "Always a note: clipping by value may be meant.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(loss.backward()
torch.nn.utils.clip_grad_value_(model.parameters(), 0.01))",
                 .good = R"(loss.backward()
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0))"},
      .cpp = {.bad = R"(loss.backward();
nn::utils::clip_grad_value_(model->parameters(), 0.01);)",
              .good = R"(loss.backward();
nn::utils::clip_grad_norm_(model->parameters(), 1);)"},
      .sources = {"PyTorch documentation of clip_grad_value_ and clip_grad_norm_"},
      .covers = {"clip-by-value"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no clipping by value", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"entries cut off", Expect::kNote, [] { return With(0.01, 0); }}},
  };
}

}  // namespace dlcheck::gradients
