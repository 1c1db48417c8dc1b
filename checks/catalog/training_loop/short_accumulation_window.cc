#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/window_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kRagged{.name = "windows",
                          .value = 2,
                          .low = 1,
                          .high = 1e6,
                          .unit = "accumulation windows",
                          .meaning = "fewest short accumulation windows for a finding",
                          .source = "own reasoning: an epoch ends with one"};

struct Sizes {
  std::vector<const Windows::Window*> as_if_full;
  int64_t full = 0, shorter = 0;
  int64_t other_full = 0, other_short = 0;  // whose shares do not sum to 1
};

Sizes Sort(const Windows& windows, double tolerance) {
  Sizes sizes;
  for (const auto& [division, found] : Sorted(windows, 1, tolerance)) {
    const bool is_mean = division == Division::kByTargets || division == Division::kByMicroBatches;
    for (const Windows::Window* window : found) {
      const bool is_full = window->micro.size() == windows.full;
      ++(is_full ? sizes.full : sizes.shorter);
      if (!is_full && division == Division::kAsIfFull) {
        sizes.as_if_full.push_back(window);
      } else if (!is_mean) {
        ++(is_full ? sizes.other_full : sizes.other_short);
      }
    }
  }
  return sizes;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Windows& windows) {
  DLCHECK_RETURN_IF_ERROR(IsAWindowQuestion(windows));
  const Sizes sizes = Sort(windows, settings[kShareTolerance]);
  if (sizes.shorter == 0) {
    return absl::FailedPreconditionError(
        StrCat("every accumulation window held ", windows.full, " micro-batches"));
  }
  if (sizes.other_full > 0) return UnknownDivision(sizes.other_full, sizes.full);
  if (sizes.other_short > 0) return UnknownDivision(sizes.other_short, sizes.shorter);
  Verdict verdict{.findings = {},
                  .judged = StrCat(sizes.shorter, " short and ",
                                   Counted(sizes.full, "full accumulation window"))};
  const std::vector<const Windows::Window*>& found = sizes.as_if_full;
  if (static_cast<double>(found.size()) < settings[kRagged] ||
      static_cast<int64_t>(found.size()) < sizes.shorter) {
    return verdict;
  }
  const Windows::Window& first = *found.front();
  const bool is_rare = static_cast<double>(found.size()) <
                       settings[kRareWindows] * static_cast<double>(sizes.full + sizes.shorter);
  const Severity mildest = is_rare ? Severity::kNote : Severity::kWarning;
  verdict.findings.push_back(
      WindowFinding(windows.declared == "mean" ? Severity::kError : mildest,
                    StrCat("All ", Described(found), " were divided as if they held ", windows.full,
                           ": their shares sum to ", Short(first.Share()), " at step ", first.step,
                           " instead of 1, so their targets count less."),
                    found, first.Share(), 1));
  return verdict;
}

// Every fourth window holds two micro-batches with this share each, the others four.
Evidence ShortWindowsWith(double share, bool declared) {
  const std::vector<Windows::MicroBatch> full(4, {0.25, 32}), ragged(2, {share, 32});
  return WindowsOf({full, full, full, ragged}, declared);
}

// The same with a second optimizer that takes over.
Evidence OfTwoOptimizers() {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 16; ++step) {
    BeginStep(run, std::vector<Windows::MicroBatch>(step % 4 == 3 ? 2 : 4, {0.25, 32}));
    EndStep(run, {.optimizer = step >= 4 ? "optimizer#1" : "optimizer#0"});
  }
  return PlainOnly(run);
}

}  // namespace

Check ShortAccumulationWindow() {
  return {
      .id = "training_loop/short_accumulation_window",
      .title = "Short accumulation window divided as if full",
      .promise = "A short accumulation window is divided by its own size.",
      .why =
          "The last samples of every epoch count less than the others. The step on these samples "
          "is smaller than the learning rate says.",
      .method =
          "Compares the gradient at each backward call with that of the mean loss over the same "
          "targets (its share). Shares of full accumulation windows sum to 1. In every short one, "
          "the shares are those of a full one.",
      .fix =
          "Divide by the number of targets or micro-batches that the accumulation window really "
          "holds. Or use DataLoader(drop_last=True) and only full accumulation windows.",
      .limits = {.needs = "Two short accumulation windows among the sampled steps.",
                 .silent_when = "Losses with label smoothing, weights or further terms are not "
                                "judged. Optimizers that take turns are not judged.",
                 .severity = "Error if accumulation is declared as the mean; otherwise warning, or "
                             "note if few accumulation windows are short.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y) / 4
    loss.backward()
    if (i + 1) % 4 == 0 or i + 1 == len(loader):
        optimizer.step()
        optimizer.zero_grad())",
                 .good = R"(for i, (x, y) in enumerate(loader):
    window = min(4, len(loader) - i // 4 * 4)
    loss = criterion(model(x), y) / window
    loss.backward()
    if (i + 1) % 4 == 0 or i + 1 == len(loader):
        optimizer.step()
        optimizer.zero_grad())"},
      .cpp = {},
      .sources = {"own reasoning: the gradient is linear in the loss"},
      .covers = {"short-window-scaled-wrongly"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kShareTolerance, kRagged, kRareWindows},
      .judgement = Reads<&Judge>(),
      .examples = {{"two of four micro-batches with a share of 1/2 each", Expect::kClean,
                    [] { return ShortWindowsWith(0.5, true); }},
                   {"two of four micro-batches with a share of 1/4 each", Expect::kError,
                    [] { return ShortWindowsWith(0.25, true); }},
                   {"the same with one optimizer after another", Expect::kWarning,
                    [] { return OfTwoOptimizers(); }},
                   {"the same, undeclared", Expect::kWarning,
                    [] { return ShortWindowsWith(0.25, false); }}},
  };
}

}  // namespace dlcheck::training_loop
