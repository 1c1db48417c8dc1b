#include <algorithm>

#include "checks/catalog/window_finding.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::training_loop {
namespace {

bool IsNegated(const Windows::Window& window) {
  return std::ranges::all_of(window.micro,
                             [](const Windows::MicroBatch& one) { return one.share < 0; });
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Windows& windows) {
  if (windows.interleaved) {
    return absl::FailedPreconditionError(
        "several optimizers step in turns, which may be opponents");
  }
  const auto count = static_cast<int64_t>(windows.windows.size());
  Verdict verdict{.findings = {}, .judged = Counted(count, "sampled step")};
  if (static_cast<double>(count) < settings[kEnoughWindows]) return verdict;
  if (!std::ranges::all_of(windows.windows, IsNegated)) return verdict;
  std::vector<const Windows::Window*> found;
  for (const Windows::Window& window : windows.windows) found.push_back(&window);
  const double share = found.front()->micro.front().share;
  verdict.findings.push_back(
      WindowFinding(Severity::kWarning,
                    StrCat("In all of ", Counted(count, "sampled step"),
                           " backward started from the loss times a negative number, ",
                           Short(share), ": the steps make it larger."),
                    found, share, 0));
  return verdict;
}

Evidence Shares(double share) { return WindowsOf({{{1, 32}}, {{share, 32}}}); }

}  // namespace

Check NegatedLoss() {
  return {
      .id = "training_loop/negated_loss",
      .promise = "Steps make the loss smaller.",
      .why = "A sign too many makes the model worse with every step, faster and faster.",
      .method =
          "What each backward call starts from, as a share of the mean loss of the same outputs "
          "and "
          "targets: negative in every sampled step.",
      .fix = "Leave out the minus, or maximize=True of the optimizer.",
      .limits =
          "Losses of torch.nn.functional alone, where nothing is added to them. Not judged where "
          "optimizers step in turns. To raise a loss on purpose, as an attack on inputs or to make "
          "a model forget, looks the same.",
      .sources = {"own reasoning: the gradient is linear in the loss"},
      .covers = {"L01"},
      .explains = {"gradients/exploding", "numerics/nonfinite_values"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kEnoughWindows},
      .judgement = Reads<&Judge>(),
      .examples = {{"negative in every other step", Expect::kClean, [] { return Shares(-1); }},
                   {"negative in all", Expect::kFaulty,
                    [] {
                      return WindowsOf({{{-1, 32}}});
                    }}},
  };
}

}  // namespace dlcheck::training_loop
