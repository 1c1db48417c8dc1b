#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients/norm_clips.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kTolerance{
    .name = "tolerance",
    .value = 0.02,
    .low = 1e-6,
    .high = 1,
    .unit = "1",
    .meaning = "largest relative excess of the gradient norm over the bound",
    .source = "own reasoning: norms of norms in bf16 are off by up to 0.8 %"};

struct Excess {
  std::vector<int64_t> steps;
  double norm = 0, bound = 0;  // of the first
  bool any_part_fits = false;  // some single parameter stays within the bound
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
  verdict.findings.push_back(FindingOver(
      excess.steps, declared ? Severity::kError : mildest,
      StrCat("The optimizer used gradients above the clipping bound at ", excess.steps.size(),
             " of ", Counted(excess.judged, "clipped step"), " (first norm ", Short(excess.norm),
             " against a bound of ", Short(excess.bound), " at step ", excess.steps.front(), ")."),
      {}, excess.norm, excess.bound));
  return verdict;
}

// The step uses gradients of norm `first` and `second`, clipped to a norm of 1.
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
      .title = "Clipped gradients exceed the bound",
      .promise = "After clipping by norm, the optimizer uses gradients within the bound.",
      .why =
          "Clipping saw other gradients than the step, or clipped each tensor separately. No bound "
          "holds.",
      .method =
          "Compares the L2 norm of all gradients in the step with the bound of the clip call since "
          "the last backward. Several clip calls count as the norm of their bounds.",
      .fix =
          "Pass all parameters of the optimizer to one clip_grad_norm_ call, as a list. A "
          "generator is empty at its second use, and a loop over parameters clips each one "
          "separately.",
      .limits = {.needs = "One optimizer, and three sampled steps that clip by L2 norm.",
                 .silent_when = "Clipping uses another norm. Several optimizers step.",
                 .severity =
                     "Error if clipping by norm is declared. Otherwise a warning if every gradient "
                     "exceeds the bound, which noise added after clipping may explain. Note if "
                     "some gradients do not exceed it: a partial clip may be intentional.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(loss.backward()
for p in model.parameters():
    nn.utils.clip_grad_norm_(p, 1.0)  # each tensor separately
optimizer.step())",
                 .good = R"(loss.backward()
nn.utils.clip_grad_norm_(model.parameters(), 1.0)
optimizer.step())"},
      .cpp = {.bad = R"(loss.backward();
for (auto& p : model->parameters()) nn::utils::clip_grad_norm_(p, 1);  // each separately
optimizer.step();)",
              .good = R"(loss.backward();
nn::utils::clip_grad_norm_(model->parameters(), 1);
optimizer.step();)"},
      .sources = {"PyTorch documentation of torch.nn.utils.clip_grad_norm_"},
      .covers = {"partial-clipping"},
      .explains = {"gradients/exploding"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kClip,
      .settings = {kEnoughSteps, kTolerance},
      .judgement = Reads<&Judge>(),
      .examples = {{"a norm of 1.01", Expect::kClean, [] { return Using(0.6, 0.8125, true); }},
                   {"a norm of 1.05", Expect::kError, [] { return Using(0.6, 0.8617, true); }},
                   {"both above 1, undeclared", Expect::kWarning,
                    [] { return Using(1.2, 1.3, false); }},
                   {"one above 1, undeclared", Expect::kNote, [] { return Using(1, 1.3, false); }}},
  };
}

}  // namespace dlcheck::gradients
