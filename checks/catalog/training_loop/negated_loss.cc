#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/negated_functions.h"
#include "checks/catalog/findings/statement_finding.h"
#include "checks/catalog/findings/window_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss/loss_curve.h"

namespace dlcheck::training_loop {
namespace {

constexpr int64_t kRaisedSteps = 4;
constexpr int64_t kFewestLosses = 64;
constexpr size_t kCompared = 8;  // losses at the beginning, and at the end
constexpr double kFall = 10;     // times the first ones

bool IsNegated(const Windows::Window& window) {
  return std::ranges::all_of(window.micro,
                             [](const Windows::MicroBatch& one) { return one.share < 0; });
}

// Of a loss that the program works out itself, in each of the first steps.
absl::StatusOr<Verdict> JudgeRaised(const Stated<Quantity::kRaisedError>& raised) {
  Verdict verdict = NothingStated(raised);
  for (const Statement& statement : raised.all) {
    if (statement.count < kRaisedSteps) continue;
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        "backward() starts from squared or absolute differences with a minus before them, so the "
        "steps increase them."));
  }
  return verdict;
}

// A loss of any kind that begins below zero and falls and falls, as an error with a minus does.
absl::StatusOr<Verdict> JudgeFall(const LossCurve& losses) {
  const auto count = static_cast<int64_t>(losses.points.size());
  Verdict verdict{.findings = {}, .judged = Counted(count, "loss value")};
  if (count < kFewestLosses) return verdict;
  std::vector<double> first;
  for (size_t i = 0; i < kCompared; ++i) first.push_back(losses.points[i].loss);
  std::ranges::sort(first);
  const double begin = first[kCompared / 2], end = losses.LateMedian(kCompared);
  if (!(first.back() < 0) || !(end < kFall * begin)) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat("The loss began at ", Short(begin), " and fell to ", Short(end),
                         ": it has no lower bound, like an error with a minus before it."),
       .places = {},
       .first_step = losses.points.front().step,
       .last_step = losses.points.back().step,
       .count = count,
       .measured = end / begin,
       .bound = kFall});
  return verdict;
}

absl::StatusOr<Verdict> JudgeOther(const IfSeen<Stated<Quantity::kRaisedError>>& raised,
                                   const LossCurve& losses) {
  if (losses.optimizers != 1) {
    return absl::FailedPreconditionError("several optimizers may be adversaries");
  }
  if (raised) {
    absl::StatusOr<Verdict> verdict = JudgeRaised(*raised);
    if (!verdict->findings.empty()) return verdict;
  }
  return JudgeFall(losses);
}

absl::StatusOr<Verdict> JudgeWhole(const Settings& settings, const IfSeen<Windows>& seen,
                                   const IfSeen<Stated<Quantity::kRaisedError>>& raised,
                                   const LossCurve& losses) {
  if (!seen || seen->windows.empty()) return JudgeOther(raised, losses);
  const Windows& windows = *seen;
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

absl::StatusOr<Verdict> Judge(const Settings& settings, const IfSeen<Windows>& seen,
                              const IfSeen<Stated<Quantity::kRaisedError>>& raised,
                              const LossCurve& losses, const LossFunctions& functions) {
  absl::StatusOr<Verdict> verdict = JudgeWhole(settings, seen, raised, losses);
  if (verdict.ok() && !verdict->findings.empty()) return verdict;
  std::vector<Finding> negated = NegatedFunctions(functions, settings[kEnoughWindows]);
  if (negated.empty()) return verdict;
  const auto count = static_cast<int64_t>(functions.functions.size());
  return Verdict{.findings = std::move(negated), .judged = Counted(count, "loss function")};
}

// Eighty losses on a line.
Evidence Falling(double from, double to) {
  constexpr int kSteps = 80;
  RunBuilder run = TwoLayers();
  for (int step = 0; step < kSteps; ++step) {
    AddStep(run, {.loss = from + (to - from) * step / (kSteps - 1), .held = {}});
  }
  return PlainOnly(run);
}

// Eight steps of a loss that is one term of a sum, with this factor.
Evidence Term(double factor) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 8; ++step) {
    run.Quantity(Quantity::kLossTermShare, "loss", "mse_loss", factor, 32);
    AddStep(run, {.held = {}});
  }
  return PlainOnly(run);
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
          "outputs and targets. The ratio is negative in every sampled step. Follows the graph of "
          "a loss that the program works out itself to squared or absolute differences. Compares "
          "the first values of any other loss with the last ones.",
      .fix = "Remove the minus sign before the loss, or remove maximize=True from the optimizer.",
      .limits = {.needs = "A loss of torch.nn.functional, or one of squared or absolute "
                          "differences alone.",
                 .silent_when = "Several optimizers take turns, and some use the loss as it is.",
                 .severity = "Warning. Note for one of several terms, and for an unknown loss that "
                             "falls from below zero to ten times that: both can be meant.",
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
      .cpp = {.bad = R"(auto loss = -F::cross_entropy(model->forward(x), y);
loss.backward();)",
              .good = R"(auto loss = F::cross_entropy(model->forward(x), y);
loss.backward();)"},
      .sources = {"own reasoning: the gradient is linear in the loss"},
      .covers = {"inverted-loss-sign"},
      .explains = {"gradients/exploding", "numerics/nonfinite_values",
                   "learnability/no_better_than_constant"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kEnoughWindows},
      .judgement = Reads<&Judge>(),
      .examples = {{"a negative factor in every other step", Expect::kClean,
                    [] { return Shares(-1); }},
                   {"a term of the loss", Expect::kClean, [] { return Term(0.5); }},
                   {"a term of the loss with a minus", Expect::kNote, [] { return Term(-1); }},
                   {"a likelihood", Expect::kClean, [] { return Falling(3, -4); }},
                   {"a loss that falls from below zero", Expect::kNote,
                    [] { return Falling(-0.7, -40); }},
                   {"differences with a minus, in one step", Expect::kClean,
                    [] { return Stating(Quantity::kRaisedError, "loss", "loss", 1, 0, 1); }},
                   {"differences with a minus", Expect::kWarning,
                    [] { return Stating(Quantity::kRaisedError, "loss", "loss", 1, 0, 4); }},
                   {"a negative factor in every step", Expect::kWarning,
                    [] {
                      return WindowsOf({{{-1, 32}}});
                    }}},
  };
}

}  // namespace dlcheck::training_loop
