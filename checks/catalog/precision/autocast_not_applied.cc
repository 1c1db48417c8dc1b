#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/precision/autocast.h"

namespace dlcheck::precision {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings, const Autocast& autocast) {
  const std::string& type = autocast.declared;
  const bool declared = type == "bf16" || type == "fp16";
  if (!declared && !autocast.scales_losses) {
    return absl::FailedPreconditionError("no autocast is declared, and no loss is scaled");
  }
  if (autocast.products.empty()) {
    return absl::NotFoundError("no matrix product or convolution was recorded in a forward pass");
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
                                  : "Losses are scaled for low precision",
                         ", but none of ", Counted(Whole(products), "matrix product"),
                         " and convolutions in the forward passes of ",
                         Counted(count, "sampled step"), " had bf16 or fp16 inputs."),
                  {}, 0, 0));
  return verdict;
}

// One of a hundred products of one step of eight is in low precision, or none. Autocast is declared
// unless there is a scaler.
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
      .title = "Forward passes run in fp32 despite autocast",
      .promise = "If autocast is declared, forward passes compute in its dtype.",
      .why =
          "The program runs in fp32. It needs twice the memory and several times the planned time, "
          "and results reported as mixed precision are not.",
      .method =
          "Records the input dtypes of every matrix product and convolution in the forward passes "
          "of sampled steps. None of them is bf16 or fp16.",
      .fix =
          "Run the forward pass and the loss inside torch.autocast(device_type, dtype=...), with "
          "the device type of the model.",
      .limits = {.needs = "The declaration autocast = bf16 or fp16, or a loss scaler.",
                 .silent_when = "",
                 .severity = "Error with the declaration; warning with only a loss scaler.",
                 .blind_spots =
                     "Products inside compiled or fused kernels with other names are not recorded.",
                 .sensitivity = ""},
      .python = {.bad = R"(with torch.autocast("cpu", dtype=torch.bfloat16):  # the model is on CUDA
    loss = criterion(model(x.cuda()), y.cuda())
loss.backward()
optimizer.step())",
                 .good = R"(with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = criterion(model(x.cuda()), y.cuda())
loss.backward()
optimizer.step())"},
      .cpp = {},
      .sources = {"PyTorch documentation of torch.amp.autocast"},
      .covers = {"autocast-not-applied"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .also_at = {Event::kUsed},
      .settings = {kEnoughSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"one of 800 products in low precision", Expect::kClean,
                    [] { return WithLowShare(0.01); }},
                   {"no product in low precision", Expect::kError, [] { return WithLowShare(0); }},
                   {"a scaler, and one of 800 products in low precision", Expect::kClean,
                    [] { return WithLowShare(0.01, 1024); }},
                   {"a scaler, and no product in low precision", Expect::kWarning,
                    [] { return WithLowShare(0, 1024); }}},
  };
}

}  // namespace dlcheck::precision
