#include <algorithm>
#include <cmath>

#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/window_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

using Factors = IfSeen<Stated<Quantity::kGradientFactor>>;
constexpr double kNear = 1e-3;  // relative, of a share in float32

// Whether the program divides the gradients by the number of micro-batches after the last backward.
bool DividesLater(const Windows::Window& window, const Factors& factors) {
  const double parts = window.Share();
  return factors && std::ranges::any_of(factors->all, [&](const Statement& statement) {
           return std::abs(statement.value * parts - 1) < kNear;
         });
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Windows& windows,
                              const Factors& factors) {
  DLCHECK_RETURN_IF_ERROR(IsAWindowQuestion(windows));
  SortedWindows sorted = Sorted(windows, 2, settings[kShareTolerance]);
  const std::vector<const Windows::Window*>& undivided = sorted[Division::kUndivided];
  int64_t judged = 0;
  for (const auto& [division, found] : sorted) judged += static_cast<int64_t>(found.size());
  Verdict verdict{.findings = {}, .judged = Counted(judged, "accumulation window")};
  const auto count = static_cast<int64_t>(undivided.size());
  if (count != judged) {
    const auto unknown = static_cast<int64_t>(sorted[Division::kOther].size());
    if (unknown > 0) return UnknownDivision(unknown, judged);
    return verdict;
  }
  if (static_cast<double>(count) < settings[kEnoughWindows]) return verdict;
  if (DividesLater(*undivided.front(), factors)) return verdict;
  const bool declared = windows.declared == "mean";
  verdict.findings.push_back(
      WindowFinding(declared ? Severity::kError : Severity::kNote,
                    StrCat("In all ", Described(undivided),
                           ", each backward call used the undivided mean loss of its micro-batch "
                           "(the shares sum to ",
                           Short(undivided.front()->Share()), " at step ", undivided.front()->step,
                           "). The gradients are summed over micro-batches",
                           declared ? ", but a mean is declared." : " and grow with their number."),
                    undivided, undivided.front()->Share(), 1));
  return verdict;
}

}  // namespace

Check UnscaledAccumulation() {
  return {
      .id = "training_loop/unscaled_accumulation",
      .title = "Accumulated losses are not divided",
      .promise = "Accumulated losses are scaled to a mean over the step's targets.",
      .why =
          "Without the division, the gradient is too large by the number of micro-batches. "
          "Learning rate, clipping bound and weight decay no longer have their intended effect.",
      .method =
          "Compares the gradient at each backward call with that of the mean loss over the same "
          "outputs and targets. A ratio of 1 at every backward call of every accumulation window "
          "means no division.",
      .fix =
          "Divide before backward: (loss / accumulation_steps).backward(). Better, divide the sum "
          "of losses by the number of targets in the whole accumulation window.",
      .limits = {.needs = "Gradient accumulation and one optimizer at a time.",
                 .silent_when = "Losses with label smoothing, weights or further terms are not "
                                "judged. Optimizers that take turns are not judged.",
                 .severity =
                     "Error if the program declares accumulation as the mean. Otherwise note: a "
                     "sum over micro-batches or several losses in one step may be intentional.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y)
    loss.backward()
    if (i + 1) % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad())",
                 .good = R"(for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y) / accumulation_steps
    loss.backward()
    if (i + 1) % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad())"},
      .cpp = {.bad = R"(for (auto& batch : *loader) {
  criterion(model->forward(batch.data), batch.target).backward();
  if (++batches % parts != 0) continue;
  optimizer.step();
  optimizer.zero_grad();
})",
              .good = R"(for (auto& batch : *loader) {
  (criterion(model->forward(batch.data), batch.target) / parts).backward();
  if (++batches % parts != 0) continue;
  optimizer.step();
  optimizer.zero_grad();
})"},
      .sources = {"own reasoning: the gradient is linear in the loss",
                  "huggingface/transformers issues 35203 and 35438"},
      .covers = {"unscaled-accumulation"},
      .explains = {"training_loop/split_dependence"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kShareTolerance, kEnoughWindows},
      .judgement = Reads<&Judge>(),
      .examples = {{"four micro-batches with a share of 1/4 each", Expect::kClean,
                    [] { return FourShares(0.25, true); }},
                   {"four micro-batches with a share of 1 each", Expect::kError,
                    [] { return FourShares(1, true); }},
                   {"the same, undeclared", Expect::kNote, [] { return FourShares(1, false); }},
                   {"with an accumulation window of one micro-batch", Expect::kClean,
                    [] {
                      return WindowsOf({{{0.5, 32}, {0.5, 32}}, {{1, 32}}}, true);
                    }}},
  };
}

}  // namespace dlcheck::training_loop
