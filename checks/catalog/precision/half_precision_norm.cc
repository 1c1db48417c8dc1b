#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::precision {
namespace {

constexpr double kBitsOfFloat16 = 11;  // of the significand

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kHalfNorm>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const bool float16 = statement.value == kBitsOfFloat16;
    verdict.findings.push_back(StatementFinding(
        statement, float16 ? Severity::kWarning : Severity::kNote,
        StrCat(statement.name, " normalizes in ", float16 ? "float16." : "bfloat16."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kHalfNorm, "module", "norm", value, aux, times);
}

}  // namespace

Check HalfPrecisionNorm() {
  return {
      .id = "precision/half_precision_norm",
      .title = "A normalization layer works in half precision",
      .promise = "Normalization layers keep their weights in float32.",
      .why =
          "The layer sums squares of many values. In half precision the sum loses digits or "
          "overflows.",
      .method =
          "Reads the dtype of the weight of each normalization layer when it is called in "
          "training.",
      .fix =
          "Keep these layers in float32: model.half(), then layer.float() for each of them, or "
          "use torch.autocast.",
      .limits = {.needs = "A program with an optimizer step.",
                 .silent_when = "The layer has no weight.",
                 .severity = "A warning for float16, a note for bfloat16.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(model = model.half())", .good = R"(model = model.half()
for layer in model.modules():
    if isinstance(layer, nn.LayerNorm):
        layer.float())"},
      .cpp = {.bad = "model->to(torch::kHalf);", .good = R"(model->to(torch::kHalf);
for (auto& module : model->modules()) {
  if (auto* norm = module->as<nn::LayerNorm>()) norm->to(torch::kFloat);
})"},
      .sources = {"PyTorch documentation of torch.amp: operations that autocast to float32"},
      .covers = {"low-precision-norm-layers"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a layer in float32", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a layer in bfloat16", Expect::kNote, [] { return With(8, 0); }},
                   {"a layer in float16", Expect::kWarning, [] { return With(11, 0); }}},
  };
}

}  // namespace dlcheck::precision
