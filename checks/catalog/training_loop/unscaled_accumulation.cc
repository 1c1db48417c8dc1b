#include "checks/catalog/window_finding.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings, const Windows& windows) {
  DLCHECK_RETURN_IF_ERROR(IsAWindowQuestion(windows));
  SortedWindows sorted = Sorted(windows, 2, settings[kShareTolerance]);
  const std::vector<const Windows::Window*>& undivided = sorted[Division::kUndivided];
  int64_t judged = 0;
  for (const auto& [division, found] : sorted) judged += static_cast<int64_t>(found.size());
  Verdict verdict{.findings = {}, .judged = Counted(judged, "window")};
  const auto count = static_cast<int64_t>(undivided.size());
  if (count != judged) {
    const auto unknown = static_cast<int64_t>(sorted[Division::kOther].size());
    if (unknown > 0) return UnknownDivision(unknown, judged);
    return verdict;
  }
  if (static_cast<double>(count) < settings[kEnoughWindows]) return verdict;
  const bool declared = windows.declared == "mean";
  verdict.findings.push_back(WindowFinding(
      declared ? Severity::kError : Severity::kNote,
      StrCat("In all ", Described(undivided), " each backward call started from the whole mean ",
             "loss of its micro-batch (shares of 1 that add to ", Short(undivided.front()->Share()),
             " at step ", undivided.front()->step, "), so gradients are the sum over micro-batches",
             declared ? ", where a mean is declared." : " and grow with their number."),
      undivided, undivided.front()->Share(), 1));
  return verdict;
}

// Windows of four equal micro-batches with this share each.
Evidence Shares(double share, bool declared) {
  return WindowsOf({std::vector<Windows::MicroBatch>(4, {share, 32})}, declared);
}

}  // namespace

Check UnscaledAccumulation() {
  return {
      .id = "training_loop/unscaled_accumulation",
      .promise = "The losses of the micro-batches of a step add to a mean over all its targets.",
      .why =
          "Without a division the gradient is as many times larger as there are micro-batches: "
          "the rate, the bound of clipping and weight decay no longer mean what they say.",
      .method =
          "What each backward call starts from, as a share of the mean loss of the same outputs "
          "and targets. Shares of 1 at every backward call of every window are undivided.",
      .fix =
          "Divide before backward: (loss / accumulation_steps).backward(), or better the sum of "
          "losses by the number of targets in the whole window.",
      .limits =
          "A note unless the program declares accumulation to be the mean: a sum over "
          "micro-batches, or several losses of one step, may be meant. Losses with smoothing, "
          "weights or further terms, and optimizers in turns, are not judged.",
      .sources = {"own reasoning: the gradient is linear in the loss",
                  "huggingface/transformers issues 35203 and 35438"},
      .covers = {"G01"},
      .explains = {"training_loop/split_dependence"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kShareTolerance, kEnoughWindows},
      .judgement = Reads<&Judge>(),
      .examples = {{"four micro-batches that count a quarter each", Expect::kClean,
                    [] { return Shares(0.25, true); }},
                   {"four micro-batches that count in full", Expect::kFaulty,
                    [] { return Shares(1, true); }},
                   {"the same in a program that declares nothing", Expect::kFaulty,
                    [] { return Shares(1, false); }},
                   {"a window of one micro-batch among them", Expect::kClean,
                    [] {
                      return WindowsOf({{{0.5, 32}, {0.5, 32}}, {{1, 32}}}, true);
                    }}},
  };
}

}  // namespace dlcheck::training_loop
