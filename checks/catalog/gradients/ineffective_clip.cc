#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "checks/catalog/step_finding.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients.h"
#include "checks/signals/step_order.h"

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

struct Consumed {
  double norm = 0;                                            // of all parameters together
  double smallest = std::numeric_limits<double>::infinity();  // of one that is not zero
};

std::map<int64_t, Consumed> ConsumedByStep(const Gradients& gradients) {
  std::map<int64_t, Consumed> steps;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    if (parameter.optimizer.empty()) continue;
    for (const Sample& sample : parameter.consumed) {
      if (sample.rank != 0) continue;
      Consumed& consumed = steps[sample.step];
      consumed.norm = std::hypot(consumed.norm, sample.value);
      if (sample.value > 0) consumed.smallest = std::min(consumed.smallest, sample.value);
    }
  }
  return steps;
}

// The bound on the L2 norm that clippings after the last backward call leave: of several, each of
// other parameters, the norm of their bounds. 0 for none.
double BoundOf(const StepOrder& order, const StepOrder::Step& step) {
  double bound = 0;
  const int64_t begin = std::max<int64_t>(0, step.LastBackward());
  for (const Occurrence& clip : step.Within(Event::kClip, begin, step.end())) {
    if (order.trace->thing(clip.thing).name != "norm" || clip.aux != 2) return 0;
    bound = std::hypot(bound, clip.value);
  }
  return std::isfinite(bound) ? bound : 0;
}

struct Excess {
  std::vector<int64_t> steps;
  double norm = 0, bound = 0;  // of the first
  bool any_part_fits = false;  // some parameter alone keeps the bound at each of the steps
  int64_t judged = 0;
};

Excess Compare(const StepOrder& order, const std::map<int64_t, Consumed>& consumed,
               double tolerance) {
  Excess excess;
  for (const StepOrder::Step& step : order.steps) {
    const double bound = BoundOf(order, step);
    const auto found = consumed.find(step.step);
    if (bound == 0 || found == consumed.end() || !std::isfinite(found->second.norm)) continue;
    ++excess.judged;
    if (found->second.norm <= bound * (1 + tolerance)) continue;
    if (excess.steps.empty()) {
      excess.norm = found->second.norm;
      excess.bound = bound;
    }
    excess.steps.push_back(step.step);
    if (found->second.smallest <= bound) excess.any_part_fits = true;
  }
  return excess;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepOrder& order,
                              const Gradients& gradients) {
  if (!order.has_one_optimizer()) return SeveralOptimizers();
  const Excess excess = Compare(order, ConsumedByStep(gradients), settings[kTolerance]);
  if (excess.judged == 0) {
    return absl::FailedPreconditionError("no step was seen that clips by the L2 norm alone");
  }
  Verdict verdict{.findings = {}, .judged = Counted(excess.judged, "clipped step")};
  if (static_cast<double>(excess.steps.size()) < settings[kEnoughSteps]) return verdict;
  const bool declared = order.trace->ProcessAttribute("declared.clip") == "norm";
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
