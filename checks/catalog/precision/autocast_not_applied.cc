#include "checks/catalog/step_finding.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/autocast.h"

namespace dlcheck::precision {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings, const Autocast& autocast) {
  const std::string& type = autocast.declared;
  const bool declared = type == "bf16" || type == "fp16";
  if (!declared && !autocast.scales_losses) {
    return absl::FailedPreconditionError("no autocast is declared, and no loss is scaled for it");
  }
  if (autocast.products.empty()) {
    return absl::NotFoundError("no matrix product or convolution was seen in a forward pass");
  }
  std::vector<int64_t> steps;
  double products = 0;
  for (const Autocast::Products& one : autocast.products) {
    if (one.low_share > 0) continue;
    steps.push_back(one.step);
    products += one.count;
  }
  const auto judged = static_cast<int64_t>(autocast.products.size());
  const auto count = static_cast<int64_t>(steps.size());
  Verdict verdict{.findings = {}, .judged = Counted(judged, "sampled step")};
  if (count < judged || static_cast<double>(count) < settings[kEnoughSteps]) return verdict;
  verdict.findings.push_back(
      FindingOver(steps, declared ? Severity::kError : Severity::kWarning,
                  StrCat(declared ? StrCat("Autocast to ", type, " is declared")
                                  : "Losses are scaled as for low precision",
                         ", but none of ",
                         Counted(Whole(products), "matrix product"),
                         " and convolutions in the forward passes of ",
                         Counted(count, "sampled step"), " took bf16 or fp16."),
                  {}, 0, 0));
  return verdict;
}

// One of a hundred products of one step of eight is in low precision, or none. Without a scaler
// autocast is declared.
Evidence WithLowShare(double share, double scale = 0) {
  RunBuilder run = TwoLayers();
  if (scale == 0) run.Process("declared.autocast", "bf16");
  for (int step = 0; step < 8; ++step) {
    BeginStep(run);
    if (scale != 0) run.Quantity(Quantity::kLossScale, "scaler", "scaler", scale);
    run.Quantity(Quantity::kLowPrecisionShare, "model", "", step == 5 ? share : 0, 100);
    if (scale != 0) run.Event(Event::kUnscale, scale, "optimizer", "optimizer#0");
    EndStep(run);
  }
  return PlainOnly(run);
}

}  // namespace

Check AutocastNotApplied() {
  return {
      .id = "precision/autocast_not_applied",
      .promise = "Where autocast is declared, forward passes compute in its type.",
      .why =
          "The program runs in fp32: it needs twice the memory and several times as long as "
          "planned, and what is reported as mixed precision is not.",
      .method =
          "Types of the inputs of every matrix product and convolution of the forward passes of "
          "sampled steps; none was bf16 or fp16.",
      .fix =
          "Put the forward pass and the loss inside torch.autocast(device_type, dtype=...), for "
          "the device that the model is on.",
      .limits =
          "Only with the declaration autocast = bf16 or fp16, or with a loss scaler, which is then a "
          "warning. Products inside compiled or fused "
          "kernels of other names are not seen.",
      .sources = {"PyTorch documentation of torch.amp.autocast"},
      .covers = {"A06"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kEnoughSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"one product of 800", Expect::kClean, [] { return WithLowShare(0.01); }},
                   {"no product", Expect::kFaulty, [] { return WithLowShare(0); }},
                   {"a scaler, and one product of 800", Expect::kClean,
                    [] { return WithLowShare(0.01, 1024); }},
                   {"a scaler for nothing", Expect::kFaulty,
                    [] { return WithLowShare(0, 1024); }}},
  };
}

}  // namespace dlcheck::precision
