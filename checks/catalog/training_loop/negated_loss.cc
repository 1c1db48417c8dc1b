#include <algorithm>

#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/window_finding.h"
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
    return absl::FailedPreconditionError("several optimizers take turns and may be adversaries");
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
                    StrCat("In all ", Counted(count, "sampled step"),
                           " backward() used the loss times a negative number (", Short(share),
                           "), so the steps increase the loss."),
                    found, share, 0));
  return verdict;
}

Evidence Shares(double share) { return WindowsOf({{{1, 32}}, {{share, 32}}}); }

}  // namespace

Check NegatedLoss() {
  return {
      .id = "training_loop/negated_loss",
      .title = "The loss is negated and grows with every step",
      .promise = "Optimizer steps reduce the loss.",
      .why = "With the wrong sign, every step makes the model worse, faster and faster.",
      .method =
          "Compares the gradient at each backward call with that of the mean loss over the same "
          "outputs and targets. The ratio is negative in every sampled step.",
      .fix = "Remove the minus sign before the loss, or remove maximize=True from the optimizer.",
      .limits = {.needs = "A loss of torch.nn.functional with no further terms.",
                 .silent_when = "Several optimizers take turns, as in a GAN.",
                 .severity = "",
                 .blind_spots = "Raising a loss on purpose looks the same, as in adversarial "
                                "attacks or machine unlearning.",
                 .sensitivity = ""},
      .python = {.bad = R"(optimizer.zero_grad()
loss = -F.cross_entropy(model(x), y)
loss.backward()
optimizer.step())",
                 .good = R"(optimizer.zero_grad()
loss = F.cross_entropy(model(x), y)
loss.backward()
optimizer.step())"},
      .cpp = {},
      .sources = {"own reasoning: the gradient is linear in the loss"},
      .covers = {"inverted-loss-sign"},
      .explains = {"gradients/exploding", "numerics/nonfinite_values",
                   "learnability/no_better_than_constant"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kEnoughWindows},
      .judgement = Reads<&Judge>(),
      .examples = {{"a negative factor in every other step", Expect::kClean,
                    [] { return Shares(-1); }},
                   {"a negative factor in every step", Expect::kWarning,
                    [] {
                      return WindowsOf({{{-1, 32}}});
                    }}},
  };
}

}  // namespace dlcheck::training_loop
