#include <algorithm>

#include "checks/catalog/examples/clip_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients/norm_clips.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 96,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest clipped steps for a finding",
                         .source = "own reasoning: the first steps are not typical"};
constexpr Setting kShare{
    .name = "share",
    .value = 0.05,
    .low = 0,
    .high = 1,
    .unit = "1",
    .meaning = "largest gradient norm over the bound, up to which the check reports",
    .source = "own reasoning: outliers of healthy runs reach 5 times the usual norm"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const NormClips& clips) {
  const auto judged = static_cast<int64_t>(clips.steps.size());
  Verdict verdict{.findings = {}, .judged = Counted(judged, "clipped step")};
  std::vector<int64_t> reached;
  double largest = 0;
  for (const NormClips::Step& step : clips.steps) {
    if (step.IsAtBound()) reached.push_back(step.step);
    largest = std::max(largest, step.norm / step.bound);
  }
  if (static_cast<double>(judged) < settings[kSteps]) return verdict;
  if (!reached.empty() || largest > settings[kShare]) return verdict;
  std::vector<int64_t> all;
  for (const NormClips::Step& step : clips.steps) all.push_back(step.step);
  verdict.findings.push_back(
      FindingOver(all, Severity::kNote,
                  StrCat("None of ", Counted(judged, "clipped step"),
                         " came near the clipping bound: the largest gradient norm was ",
                         Short(largest), " of the bound."),
                  {}, largest, settings[kShare]));
  return verdict;
}

}  // namespace

Check NeverClipped() {
  return {
      .id = "gradients/never_clipped",
      .title = "Clipping is never active",
      .promise = "Clipping by norm has a bound that some gradients reach.",
      .why =
          "Clipping costs time and has no effect. Often its bound was chosen for another scale of "
          "the loss.",
      .method =
          "Compares the gradient norm that each clipped step used with the clipping bound. Reports "
          "a run if no norm comes near the bound.",
      .fix =
          "Lower max_norm to a few times the usual gradient norm, or remove the clip_grad_norm_ "
          "call.",
      .limits = {.needs = "One optimizer, and 96 sampled steps that clip by norm.",
                 .silent_when = "The largest norm is more than a small part of the bound.",
                 .severity =
                     "Always a note: a bound against rare outliers is never reached in a good run.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(loss.backward()  # typical gradient norm: 0.5
nn.utils.clip_grad_norm_(model.parameters(), max_norm=1000.0)
optimizer.step())",
                 .good = R"(loss.backward()  # typical gradient norm: 0.5
nn.utils.clip_grad_norm_(model.parameters(), max_norm=2.0)
optimizer.step())"},
      .cpp = {.bad = R"(loss.backward();  // typical gradient norm: 0.5
nn::utils::clip_grad_norm_(model->parameters(), 1000);
optimizer.step();)",
              .good = R"(loss.backward();  // typical gradient norm: 0.5
nn::utils::clip_grad_norm_(model->parameters(), 2);
optimizer.step();)"},
      .sources = {"own reasoning"},
      .covers = {"unsuitable-clip-bound"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kClip,
      .settings = {kSteps, kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"one step at the bound", Expect::kClean, [] { return ClippedSteps(1); }},
                   {"no step near the bound", Expect::kNote, [] { return ClippedSteps(0); }}},
  };
}

}  // namespace dlcheck::gradients
