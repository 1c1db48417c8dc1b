#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::precision {
namespace {

constexpr double kMany = 16;

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kHalfAccumulation>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, statement.value >= kMany ? Severity::kWarning : Severity::kNote,
                         StrCat(statement.value, " backward calls add to one gradient with ",
                                statement.aux, " bits of precision.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kHalfAccumulation, "optimizer", "", value, aux, times);
}

}  // namespace

Check LowPrecisionAccumulation() {
  return {
      .id = "precision/low_precision_accumulation",
      .title = "Many micro-batches are added up in half precision",
      .promise = "Gradients of many micro-batches add up in float32.",
      .why =
          "bfloat16 keeps 8 bits: a term below a 256th of the sum is lost. The last "
          "micro-batches count less than the first.",
      .method =
          "Counts the backward calls that add to a gradient in half precision before a step "
          "uses it.",
      .fix =
          "Keep parameters in float32 and use autocast, or add the gradients up in float32 "
          "copies.",
      .limits = {.needs = "A program with an optimizer step.",
                 .silent_when = "Fewer than eight backward calls belong to a step.",
                 .severity = "A warning from 16 on, a note from eight on.",
                 .blind_spots = "Sharded gradients.",
                 .sensitivity = ""},
      .python = {.bad = R"(model.bfloat16()
for x, y in micro_batches:  # 32 of them
    (loss(model(x), y) / 32).backward())",
                 .good = R"(for x, y in micro_batches:  # 32 of them
    with torch.autocast("cuda", torch.bfloat16):
        value = loss(model(x), y) / 32
    value.backward())"},
      .cpp = {.bad = R"(model->to(torch::kBFloat16);
for (auto& batch : micro_batches) {  // 32 of them
  (criterion(model->forward(batch.data), batch.target) / 32).backward();
})",
              .good = R"(model->to(torch::kFloat);
for (auto& batch : micro_batches) {  // 32 of them
  (criterion(model->forward(batch.data), batch.target) / 32).backward();
})"},
      .sources = {"own reasoning: a sum of n equal terms grows to n times the last one"},
      .covers = {"low-precision-accumulation"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"few micro-batches", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"eight", Expect::kNote, [] { return With(8, 11); }},
                   {"thirty-two", Expect::kWarning, [] { return With(32, 8); }}},
  };
}

}  // namespace dlcheck::precision
