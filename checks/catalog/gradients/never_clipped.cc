#include <algorithm>

#include "checks/catalog/clip_runs.h"
#include "checks/catalog/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/norm_clips.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 96,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest clipped steps that a finding rests on",
                         .source = "own reasoning: the first steps alone say little"};
constexpr Setting kShare{
    .name = "share",
    .value = 0.05,
    .low = 0,
    .high = 1,
    .unit = "1",
    .meaning = "largest norm as a share of the bound",
    .source = "own reasoning: outliers of healthy runs are 5 times the usual norm"};
// A clipped norm is the bound up to rounding.
constexpr double kReached = 0.999;

absl::StatusOr<Verdict> Judge(const Settings& settings, const NormClips& clips) {
  const auto judged = static_cast<int64_t>(clips.steps.size());
  Verdict verdict{.findings = {}, .judged = Counted(judged, "clipped step")};
  std::vector<int64_t> reached;
  double largest = 0;
  for (const NormClips::Step& step : clips.steps) {
    if (step.norm >= kReached * step.bound) reached.push_back(step.step);
    largest = std::max(largest, step.norm / step.bound);
  }
  if (static_cast<double>(judged) < settings[kSteps]) return verdict;
  if (!reached.empty() || largest > settings[kShare]) return verdict;
  std::vector<int64_t> all;
  for (const NormClips::Step& step : clips.steps) all.push_back(step.step);
  verdict.findings.push_back(
      FindingOver(all, Severity::kNote,
                  StrCat("None of ", Counted(judged, "clipped step"),
                         " came near the bound: the largest norm was ", Short(largest), " of it."),
                  {}, largest, settings[kShare]));
  return verdict;
}

}  // namespace

Check NeverClipped() {
  return {
      .id = "gradients/never_clipped",
      .promise = "Clipping by norm has a bound that some gradients reach.",
      .why =
          "The clipping costs time and protects from nothing that happened; often its bound was "
          "meant for "
          "another size of loss.",
      .method =
          "The norm of the gradients that clipped steps consumed: at none of them it came near the "
          "bound.",
      .fix = "Lower the bound to a few times the usual norm, or leave the clipping out.",
      .limits =
          "A bound against rare outliers is never reached in a good run: hence a note, and only "
          "where the "
          "largest norm is a small part of the bound.",
      .sources = {"own reasoning"},
      .covers = {"C02"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kClip,
      .settings = {kSteps, kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"one step at the bound", Expect::kClean, [] { return ClippedSteps(1); }},
                   {"none near it", Expect::kFaulty, [] { return ClippedSteps(0); }}},
  };
}

}  // namespace dlcheck::gradients
