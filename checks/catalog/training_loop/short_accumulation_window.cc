#include "checks/catalog/window_finding.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kRagged{.name = "windows",
                          .value = 2,
                          .low = 1,
                          .high = 1e6,
                          .unit = "windows",
                          .meaning = "fewest short windows that a finding rests on",
                          .source = "own reasoning: an epoch ends in one"};

struct Sizes {
  std::vector<const Windows::Window*> as_if_full;
  int64_t full = 0, shorter = 0;
  int64_t other_full = 0, other_short = 0;  // that add to something else than 1
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
        StrCat("every window held ", windows.full, " micro-batches"));
  }
  if (sizes.other_full > 0) return UnknownDivision(sizes.other_full, sizes.full);
  if (sizes.other_short > 0) return UnknownDivision(sizes.other_short, sizes.shorter);
  Verdict verdict{
      .findings = {},
      .judged = StrCat(sizes.shorter, " short and ", Counted(sizes.full, "full window"))};
  const std::vector<const Windows::Window*>& found = sizes.as_if_full;
  if (static_cast<double>(found.size()) < settings[kRagged] ||
      static_cast<int64_t>(found.size()) < sizes.shorter) {
    return verdict;
  }
  const Windows::Window& first = *found.front();
  const bool is_rare = static_cast<double>(found.size()) <
                       settings[kRareWindows] * static_cast<double>(sizes.full + sizes.shorter);
  const Severity mildest = is_rare ? Severity::kNote : Severity::kWarning;
  verdict.findings.push_back(WindowFinding(
      windows.declared == "mean" ? Severity::kError : mildest,
      StrCat("All ", Described(found), " were divided as if they held ", windows.full,
             ": their shares add to ", Short(first.Share()), " at step ", first.step,
             ", where those of full windows add to 1, so that their targets count less."),
      found, first.Share(), 1));
  return verdict;
}

// Every fourth window holds two micro-batches with this share each, the others four.
Evidence ShortWindowsWith(double share, bool declared) {
  const std::vector<Windows::MicroBatch> full(4, {0.25, 32}), ragged(2, {share, 32});
  return WindowsOf({full, full, full, ragged}, declared);
}

// The same where a second optimizer takes over.
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
      .promise = "A window with fewer micro-batches than the others is divided by what it holds.",
      .why =
          "The last samples of every epoch count less than all others, and the step on them is "
          "smaller than the rate says.",
      .method =
          "What each backward call starts from, as a share of the mean loss of the same outputs "
          "and targets: in full windows the shares add to 1, in every shorter one they are what a "
          "full window would give them.",
      .fix =
          "Divide by the targets, or the micro-batches, that the window really holds; or drop the "
          "tail: DataLoader(drop_last=True) and whole windows only.",
      .limits =
          "An error where accumulation is declared to be the mean, else a warning, and a note if "
          "few windows are short. Needs two short windows among the sampled steps. Losses with "
          "smoothing, weights or further terms, and optimizers in turns, are not judged.",
      .sources = {"own reasoning: the gradient is linear in the loss"},
      .covers = {"G04"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kShareTolerance, kRagged, kRareWindows},
      .judgement = Reads<&Judge>(),
      .examples = {{"two of four micro-batches that count a half each", Expect::kClean,
                    [] { return ShortWindowsWith(0.5, true); }},
                   {"two of four that count a quarter each", Expect::kFaulty,
                    [] { return ShortWindowsWith(0.25, true); }},
                   {"of one optimizer after another", Expect::kFaulty,
                    [] { return OfTwoOptimizers(); }},
                   {"the same in a program that declares nothing", Expect::kFaulty,
                    [] { return ShortWindowsWith(0.25, false); }}},
  };
}

}  // namespace dlcheck::training_loop
