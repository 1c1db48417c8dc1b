#include <algorithm>
#include <cmath>

#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/precision/loss_scaling.h"
#include "checks/signals/run/step_order.h"

namespace dlcheck::precision {
namespace {

constexpr Setting kLeastBound{
    .name = "least_bound",
    .value = 5e-3,
    .low = 0,
    .high = 1,
    .unit = "1",
    .meaning = "ratio of bound to scale below which the bound cannot include the scale",
    .source = "own reasoning: intended bounds are between 0.01 and 100"};

// A clipping of gradients that are still scaled.
struct Scaled {
  int64_t step = 0;
  double bound = 0, scale = 1;
  SiteId site = 0;
};

struct Clippings {
  std::vector<Scaled> scaled;
  int64_t judged = 0;  // steps that clip and unscale
};

Clippings Look(const StepOrder& order) {
  Clippings clippings;
  for (const StepOrder::Step& step : order.steps) {
    const int64_t unscale = step.First(Event::kUnscale);
    const auto before = step.Within(Event::kClip, 0, unscale);
    const auto after = step.Within(Event::kClip, unscale, step.end());
    if (unscale == step.end() || (before.empty() && after.empty())) continue;
    ++clippings.judged;
    const double scale = step.events[static_cast<size_t>(unscale)].value;
    // In a window some gradients are clipped before the last backward call: another fault.
    if (!after.empty() || scale == 1 || !std::isfinite(before.back().value)) continue;
    clippings.scaled.push_back({step.step, before.back().value, scale, before.back().site});
  }
  return clippings;
}

// False if the bound stays constant while the scale changes, or is far too small.
bool MayIncludeScale(const std::vector<Scaled>& scaled, double least) {
  const auto one_bound = [&](const Scaled& other) { return other.bound == scaled.front().bound; };
  const auto one_scale = [&](const Scaled& other) { return other.scale == scaled.front().scale; };
  if (std::ranges::all_of(scaled, one_bound) && !std::ranges::all_of(scaled, one_scale)) {
    return false;
  }
  return std::ranges::any_of(scaled,
                             [least](const Scaled& one) { return one.bound / one.scale >= least; });
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepOrder& order,
                              const LossScaling&) {
  const Clippings clippings = Look(order);
  if (clippings.judged == 0) {
    return absl::FailedPreconditionError("no recorded step both clips and unscales");
  }
  Verdict verdict{.findings = {},
                  .judged = StrCat(Counted(clippings.judged, "step"), " with clipping")};
  const std::vector<Scaled>& scaled = clippings.scaled;
  const auto count = static_cast<int64_t>(scaled.size());
  if (count < clippings.judged || static_cast<double>(count) < settings[kEnoughSteps] ||
      MayIncludeScale(scaled, settings[kLeastBound])) {
    return verdict;
  }
  const Scaled& first = scaled.front();
  std::vector<int64_t> steps;
  for (const Scaled& one : scaled) steps.push_back(one.step);
  verdict.findings.push_back(FindingOver(
      steps, Severity::kError,
      StrCat("Gradients were clipped to ", Short(first.bound), " before they were unscaled in all ",
             Counted(count, "sampled step"), " that clip and unscale. With a loss scale of ",
             Short(first.scale), " at step ", first.step, ", the effective bound was ",
             Short(first.bound / first.scale), "."),
      PlacesOf(*order.trace, first.site), first.bound / first.scale, first.bound));
  return verdict;
}

// A clipping before or after an unscaling.
Evidence Clipped(double bound, bool before) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 8; ++step) {
    const auto clip = [&] { run.Event(Event::kClip, bound, "clip", "norm", 2); };
    run.Quantity(Quantity::kLossScale, "scaler", "scaler", 65536);
    BeginStep(run);
    if (before) clip();
    run.Event(Event::kUnscale, 65536);
    if (!before) clip();
    EndStep(run);
  }
  return PlainOnly(run);
}

}  // namespace

Check ClipBeforeUnscale() {
  return {
      .id = "precision/clip_before_unscale",
      .title = "Gradients are clipped before unscale_()",
      .promise = "Gradients are clipped after the loss scale is removed from them.",
      .why =
          "The clipping bound is in effect divided by the loss scale. Every gradient is clipped to "
          "almost zero, and training slows down by the scale.",
      .method =
          "Checks the order of events in every sampled step that clips and unscales. In all of "
          "these steps, every clipping precedes the unscaling, and the scale is not 1.",
      .fix =
          "Call scaler.unscale_(optimizer) before clip_grad_norm_(). scaler.step(optimizer) then "
          "does not unscale again.",
      .limits = {.needs = "A loss scaler that reports its scale, and gradient clipping.",
                 .silent_when = "The bound may include the scale: it is not far smaller than the "
                                "scale and does not stay constant while the scale changes.",
                 .severity = "",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(scaler.scale(loss).backward()
nn.utils.clip_grad_norm_(model.parameters(), 1.0)
scaler.step(optimizer)
scaler.update())",
                 .good = R"(scaler.scale(loss).backward()
scaler.unscale_(optimizer)
nn.utils.clip_grad_norm_(model.parameters(), 1.0)
scaler.step(optimizer)
scaler.update())"},
      .cpp = {},
      .sources = {"PyTorch automatic mixed precision examples: gradient clipping",
                  "Lightning-AI/pytorch-lightning issue 9599"},
      .covers = {"clip-before-unscale"},
      .explains = {"gradients/vanishing", "learnability/no_better_than_constant",
                   "optimizer/negligible_updates", "training_loop/flat_loss"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kClip,
      .settings = {kEnoughSteps, kLeastBound},
      .judgement = Reads<&Judge>(),
      .examples = {{"clipped to 1 after the unscaling", Expect::kClean,
                    [] { return Clipped(1, false); }},
                   {"clipped to 1 before the unscaling", Expect::kError,
                    [] { return Clipped(1, true); }},
                   {"clipped to the scale itself before the unscaling", Expect::kClean,
                    [] { return Clipped(65536, true); }}},
  };
}

}  // namespace dlcheck::precision
