#include "checks/catalog/step_finding.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/norm_clips.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kTolerance{
    .name = "tolerance",
    .value = 0.02,
    .low = 1e-6,
    .high = 1,
    .unit = "1",
    .meaning = "relative excess of the consumed norm over the bound",
    .source = "own reasoning: norms of norms in bf16 are off by up to 0.8 %"};

struct Excess {
  std::vector<int64_t> steps;
  double norm = 0, bound = 0;  // of the first
  bool any_part_fits = false;  // some parameter alone keeps the bound at each of the steps
  int64_t judged = 0;
};

Excess Compare(const NormClips& clips, double tolerance) {
  Excess excess;
  for (const NormClips::Step& step : clips.steps) {
    ++excess.judged;
    if (step.norm <= step.bound * (1 + tolerance)) continue;
    if (excess.steps.empty()) {
      excess.norm = step.norm;
      excess.bound = step.bound;
    }
    excess.steps.push_back(step.step);
    if (step.smallest <= step.bound) excess.any_part_fits = true;
  }
  return excess;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const NormClips& clips) {
  const Excess excess = Compare(clips, settings[kTolerance]);
  Verdict verdict{.findings = {}, .judged = Counted(excess.judged, "clipped step")};
  if (static_cast<double>(excess.steps.size()) < settings[kEnoughSteps]) return verdict;
  const bool declared = clips.declared == "norm";
  const Severity mildest = excess.any_part_fits ? Severity::kNote : Severity::kWarning;
  verdict.findings.push_back(
      FindingOver(excess.steps, declared ? Severity::kError : mildest,
                  StrCat("At step ", excess.steps.front(), " the optimizer used gradients of norm ",
                         Short(excess.norm), " although they had been clipped to norm ",
                         Short(excess.bound), ", and so at ", excess.steps.size(), " of ",
                         Counted(excess.judged, "clipped step"), "."),
                  {}, excess.norm, excess.bound));
  return verdict;
}

// Gradients of `first` and `second`, clipped to a norm of 1, as the step uses them.
Evidence Using(double first, double second, bool declared) {
  RunBuilder run = TwoLayers();
  if (declared) run.Process("declared.clip", "norm");
  for (int step = 0; step < 8; ++step) {
    BeginStep(run);
    run.Event(Event::kClip, 1, "clip", "norm", 2);
    EndStep(run, {.trunk_gradient = first, .head_gradient = second});
  }
  return PlainOnly(run);
}

}  // namespace

Check IneffectiveClip() {
  return {
      .id = "gradients/ineffective_clip",
      .promise = "After a clipping by norm, the optimizer uses gradients within its bound.",
      .why =
          "The clipping saw other gradients than the step, or each tensor alone: no bound holds.",
      .method =
          "The L2 norm of all gradients as the step consumed them, against the bound of the "
          "clipping since the last backward call; of several, against the norm of their bounds.",
      .fix =
          "Hand all parameters of the optimizer to one clip_grad_norm_ call, as a list: a "
          "generator is empty at its second use, and a loop over parameters clips each by itself.",
      .limits =
          "An error where clipping by norm is declared; else a warning if every gradient exceeds "
          "the bound, as noise added afterwards may explain, and a note if some do not: a part may "
          "be meant. Other norms, and several optimizers, are not judged.",
      .sources = {"PyTorch documentation of torch.nn.utils.clip_grad_norm_"},
      .covers = {"C03"},
      .explains = {"gradients/exploding"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kClip,
      .settings = {kEnoughSteps, kTolerance},
      .judgement = Reads<&Judge>(),
      .examples = {{"a norm of 1.01", Expect::kClean, [] { return Using(0.6, 0.8125, true); }},
                   {"a norm of 1.05", Expect::kFaulty, [] { return Using(0.6, 0.8617, true); }},
                   {"both above 1, undeclared", Expect::kFaulty,
                    [] { return Using(1.2, 1.3, false); }},
                   {"one above 1, undeclared", Expect::kFaulty,
                    [] { return Using(1, 1.3, false); }}},
  };
}

}  // namespace dlcheck::gradients
