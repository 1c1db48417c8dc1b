#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::precision {
namespace {

constexpr double kBitsOfFloat16 = 11;  // of the significand

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kLossPrecision>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const bool float16 = statement.value == kBitsOfFloat16;
    verdict.findings.push_back(StatementFinding(
        statement, float16 ? Severity::kWarning : Severity::kNote,
        StrCat(statement.name, " works in ", float16 ? "float16" : "bfloat16",
               ", of which the loss keeps ", float16 ? "three" : "two", " digits."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kLossPrecision, "loss", "cross_entropy", value, aux, times);
}

}  // namespace

Check HalfPrecisionLoss() {
  return {
      .id = "precision/half_precision_loss",
      .title = "The loss is computed in half precision",
      .promise = "A loss function works in float32 or float64.",
      .why =
          "A loss sums exponentials. In float16 or bfloat16 the result has two to three "
          "digits, and small gradients become zero.",
      .method = "Reads the dtype of the outputs given to a loss function and of its result.",
      .fix =
          "Convert the outputs first: F.cross_entropy(logits.float(), y), or use "
          "torch.autocast, which does so.",
      .limits = {.needs = "A program with an optimizer step.",
                 .silent_when = "Autocast runs the loss in float32.",
                 .severity = "A warning for float16, a note for bfloat16.",
                 .blind_spots = "Losses written by hand.",
                 .sensitivity = ""},
      .python = {.bad = R"(model = model.half()
loss = F.cross_entropy(model(x.half()), y))",
                 .good = R"(model = model.half()
loss = F.cross_entropy(model(x.half()).float(), y))"},
      .cpp = {.bad = R"(model->to(torch::kHalf);
auto logits = model->forward(x.to(torch::kHalf));
auto loss = F::cross_entropy(logits, y);)",
              .good = R"(model->to(torch::kHalf);
auto logits = model->forward(x.to(torch::kHalf));
auto loss = F::cross_entropy(logits.to(torch::kFloat), y);)"},
      .sources = {"PyTorch documentation of torch.amp: operations that autocast to float32"},
      .covers = {"half-precision-loss"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a loss in float32", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a loss in bfloat16", Expect::kNote, [] { return With(8, 0); }},
                   {"a loss in float16", Expect::kWarning, [] { return With(11, 0); }}},
  };
}

}  // namespace dlcheck::precision
