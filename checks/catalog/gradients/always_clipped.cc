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
constexpr Setting kShare{.name = "share",
                         .value = 0.99,
                         .low = 0,
                         .high = 1,
                         .unit = "1",
                         .meaning = "share of clipped steps at the bound",
                         .source = "95 % is usual in language models, own reasoning"};

constexpr Setting kLeast{
    .name = "least",
    .value = 1e-7,
    .low = 0,
    .high = 1,
    .unit = "loss per weight",
    .meaning = "root mean square of all gradients at the bound, below which the bound is too small",
    .source = "that of gradients/vanishing"};
constexpr Setting kFirst{.name = "first",
                         .value = 20,
                         .low = 1,
                         .high = 64,
                         .unit = "steps",
                         .meaning = "number of first clipped steps with such a bound",
                         .source = "that of gradients/vanishing"};

// A bound that leaves next to nothing of any gradient.
Finding TooSmall(const Settings& settings, const NormClips& clips) {
  const NormClips::Step& first = clips.steps.front();
  std::vector<int64_t> steps;
  for (const NormClips::Step& step : clips.steps) steps.push_back(step.step);
  return FindingOver(steps, Severity::kWarning,
                     StrCat("Clipping scales every gradient down to a norm of ", Short(first.bound),
                            ". That leaves a root mean square of ", Short(first.Left()),
                            " per weight, too little to train with."),
                     {}, first.Left(), settings[kLeast]);
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const NormClips& clips) {
  const auto judged = static_cast<int64_t>(clips.steps.size());
  Verdict verdict{.findings = {}, .judged = Counted(judged, "clipped step")};
  if (clips.LeaveLessThan(settings[kLeast], static_cast<size_t>(settings[kFirst]))) {
    verdict.findings.push_back(TooSmall(settings, clips));
    return verdict;
  }
  std::vector<int64_t> reached;
  for (const NormClips::Step& step : clips.steps) {
    if (step.IsAtBound()) reached.push_back(step.step);
  }
  const double share = static_cast<double>(reached.size()) / static_cast<double>(judged);
  if (static_cast<double>(judged) < settings[kSteps]) return verdict;
  if (share < settings[kShare]) return verdict;
  verdict.findings.push_back(FindingOver(
      reached, Severity::kNote,
      StrCat("At ", reached.size(), " of ", Counted(judged, "clipped step"),
             ", the gradient norm equaled the clipping bound: clipping is always active."),
      {}, share, settings[kShare]));
  return verdict;
}

}  // namespace

Check AlwaysClipped() {
  return {
      .id = "gradients/always_clipped",
      .title = "Clipping is active at every step",
      .promise = "Clipping changes some steps and leaves others unchanged.",
      .why =
          "The learning rate no longer sets the size of an update. Clipping scales each gradient "
          "to the bound, and the size of the gradient is lost.",
      .method =
          "Compares the gradient norm that each clipped step used with the clipping bound. Reports "
          "a run if nearly all norms equal the bound, or the first 20 do and the bound leaves less "
          "than 1e-7 per weight.",
      .fix =
          "Raise max_norm or lower the learning rate. Print the norm that clip_grad_norm_ returns "
          "to see the difference.",
      .limits = {.needs = "One optimizer, and 96 sampled steps that clip by norm.",
                 .silent_when = "Several optimizers step.",
                 .severity = "Note: language models are often clipped at every step on purpose. "
                             "Warning if the bound leaves next to nothing.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(loss.backward()  # typical gradient norm: 5
nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.01)
optimizer.step())",
                 .good = R"(loss.backward()  # typical gradient norm: 5
nn.utils.clip_grad_norm_(model.parameters(), max_norm=10.0)
optimizer.step())"},
      .cpp = {.bad = R"(loss.backward();  // typical gradient norm: 5
nn::utils::clip_grad_norm_(model->parameters(), 0.01);
optimizer.step();)",
              .good = R"(loss.backward();  // typical gradient norm: 5
nn::utils::clip_grad_norm_(model->parameters(), 10);
optimizer.step();)"},
      .sources = {"own reasoning"},
      .covers = {"unsuitable-clip-bound"},
      .explains = {"optimizer/unsuitable_epsilon"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kClip,
      .settings = {kSteps, kShare, kLeast, kFirst},
      .judgement = Reads<&Judge>(),
      .examples = {{"nine of ten steps at the bound", Expect::kClean,
                    [] { return ClippedSteps(180); }},
                   {"all steps at the bound", Expect::kNote, [] { return ClippedSteps(200); }},
                   {"twenty steps at a bound of next to nothing", Expect::kWarning,
                    [] { return ClippedSteps(20, 20, 1e-6); }},
                   {"twenty steps at one that leaves twice as much", Expect::kClean,
                    [] { return ClippedSteps(20, 20, 1e-5); }}},
  };
}

}  // namespace dlcheck::gradients
