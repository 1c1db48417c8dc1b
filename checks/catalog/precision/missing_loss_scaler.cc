#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::precision {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kUnscaledHalf>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         "Layers run in float16 and no loss scaler multiplies the loss: small "
                         "gradients become zero."));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kUnscaledHalf, "model", "net", value, aux, times);
}

}  // namespace

Check MissingLossScaler() {
  return {
      .id = "precision/missing_loss_scaler",
      .title = "float16 training without a loss scaler",
      .promise = "A backward through float16 layers starts from a scaled loss.",
      .why =
          "float16 has no numbers below 6e-8. Small gradients become zero without a message "
          "unless the loss is scaled up.",
      .method =
          "Notes which layers give float16 results. Looks for a loss scaler, or a factor of "
          "at least 8, before the backward.",
      .fix =
          "Use torch.amp.GradScaler with enabled=True, or train in bfloat16, which needs no "
          "scaler.",
      .limits = {.needs = "A Python program with an optimizer step.",
                 .silent_when = "A scaler, or the program itself, scales the loss.",
                 .severity = "Always a warning: the gradients may be large enough.",
                 .blind_spots = "Scaling inside an optimizer or engine that never changes the "
                                "loss.",
                 .sensitivity = ""},
      .python = {.bad = R"(scaler = torch.amp.GradScaler(enabled=False)
with torch.autocast("cuda", torch.float16):
    loss = F.cross_entropy(model(x), y)
scaler.scale(loss).backward())",
                 .good = R"(scaler = torch.amp.GradScaler()
with torch.autocast("cuda", torch.float16):
    loss = F.cross_entropy(model(x), y)
scaler.scale(loss).backward())"},
      .cpp = {},
      .sources = {"PyTorch documentation of torch.amp: gradient scaling"},
      .covers = {"silently-disabled-scaler"},
      .explains = {"gradients/vanishing", "optimizer/negligible_updates"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a scaled loss", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a loss as it is", Expect::kWarning, [] { return With(1, 0); }}},
  };
}

}  // namespace dlcheck::precision
