#include "checks/catalog/step_finding.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/autocast.h"

namespace dlcheck::precision {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings, const Autocast& autocast) {
  const std::string& type = autocast.declared;
  if (type != "bf16" && type != "fp16") {
    return absl::FailedPreconditionError("no autocast to bf16 or fp16 is declared");
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
      FindingOver(steps, Severity::kError,
                  StrCat("Autocast to ", type, " is declared, but none of ",
                         Counted(static_cast<int64_t>(products), "matrix product"),
                         " and convolutions in the forward passes of ",
                         Counted(count, "sampled step"), " took bf16 or fp16."),
                  {}, 0, 0));
  return verdict;
}

// One of a hundred products of one step of eight is in low precision, or none.
Evidence WithLowShare(double share) {
  RunBuilder run = TwoLayers();
  run.Process("declared.autocast", "bf16");
  for (int step = 0; step < 8; ++step) {
    BeginStep(run);
    run.Quantity(Quantity::kLowPrecisionShare, "model", "", step == 5 ? share : 0, 100);
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
          "Only with the declaration autocast = bf16 or fp16. Products inside compiled or fused "
          "kernels of other names are not seen.",
      .sources = {"PyTorch documentation of torch.amp.autocast"},
      .covers = {"A06"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .settings = {kEnoughSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"one product of 800", Expect::kClean, [] { return WithLowShare(0.01); }},
                   {"no product", Expect::kFaulty, [] { return WithLowShare(0); }}},
  };
}

}  // namespace dlcheck::precision
