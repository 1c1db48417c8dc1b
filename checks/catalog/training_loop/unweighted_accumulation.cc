#include <algorithm>

#include "checks/catalog/window_finding.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kUneven{
    .name = "uneven",
    .value = 0.01,
    .low = 1e-4,
    .high = 1,
    .unit = "1",
    .meaning = "how far a micro-batch's weight may be from its targets' share",
    .source = "own reasoning: less is below the noise of any gradient"};

// The window whose micro-batches differ most.
const Windows::Window& MostUneven(const std::vector<const Windows::Window*>& windows) {
  return **std::ranges::max_element(windows, {}, &Windows::Window::Unevenness);
}

// Micro-batches of the same unequal numbers in every window are two kinds of data, which may be
// weighted alike on purpose; numbers that vary come as they come.
bool NumbersVary(const Windows& windows) {
  const Windows::Window* known = nullptr;
  for (const Windows::Window& window : windows.windows) {
    if (window.micro.size() < 2) continue;
    if (known == nullptr) known = &window;
    if (!std::ranges::equal(known->micro, window.micro, {}, &Windows::MicroBatch::targets,
                            &Windows::MicroBatch::targets)) {
      return true;
    }
  }
  return false;
}

std::string Bias(const Windows::Window& window) {
  const auto [least, most] = std::ranges::minmax(window.micro, {}, &Windows::MicroBatch::targets);
  return StrCat("at step ", window.step, " a target of the micro-batch of ", least.targets,
                " counts ", Short(most.targets / least.targets),
                " times one of the micro-batch of ", most.targets);
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Windows& windows) {
  DLCHECK_RETURN_IF_ERROR(IsAWindowQuestion(windows));
  std::vector<const Windows::Window*> alike;
  int64_t judged = 0, unknown = 0, all = 0;
  for (const auto& [division, found] : Sorted(windows, 2, settings[kShareTolerance])) {
    all += static_cast<int64_t>(found.size());
    for (const Windows::Window* window : found) {
      if (window->Unevenness() <= settings[kUneven]) continue;
      ++judged;
      if (division == Division::kOther) ++unknown;
      if (division == Division::kByMicroBatches) alike.push_back(window);
    }
  }
  if (judged == 0) {
    return absl::FailedPreconditionError("all micro-batches of a step had equally many targets");
  }
  if (unknown > 0) return UnknownDivision(unknown, judged);
  Verdict verdict{.findings = {},
                  .judged = StrCat(Counted(judged, "window"), " with unequal numbers of targets")};
  const auto count = static_cast<double>(alike.size());
  // One that is divided by its targets shows that the program knows how.
  if (count < settings[kEnoughWindows] || 2 * count < static_cast<double>(judged)) return verdict;
  const Windows::Window& worst = MostUneven(alike);
  const bool is_rare = count < settings[kRareWindows] * static_cast<double>(all);
  const Severity mildest = NumbersVary(windows) && !is_rare ? Severity::kWarning : Severity::kNote;
  verdict.findings.push_back(
      WindowFinding(windows.declared == "mean" ? Severity::kError : mildest,
                    StrCat("In ", Described(alike),
                           " each micro-batch counts alike although their numbers of targets "
                           "differ, so the step follows a mean of means: ",
                           Bias(worst), "."),
                    alike, worst.Unevenness(), settings[kUneven]));
  return verdict;
}

// Micro-batches of 24 and 8 targets, of which the first has this share; then of two with 8 each.
Evidence FirstOfTwo(double share, bool declared) {
  return WindowsOf({{{share, 24}, {1 - share, 8}}, {{0.5, 8}, {0.5, 8}}}, declared);
}

}  // namespace

Check UnweightedAccumulation() {
  return {
      .id = "training_loop/unweighted_accumulation",
      .promise = "A micro-batch counts in its step by its share of the step's targets.",
      .why =
          "Targets of short micro-batches weigh more than those of long ones, so the loss that is "
          "minimised depends on how a batch happened to be cut into micro-batches.",
      .method =
          "In windows whose micro-batches have unequal numbers of targets: what each backward "
          "call starts from, as a share of the mean loss of the same targets, is one over the "
          "number of micro-batches in each instead of its share of the targets.",
      .fix =
          "Count the targets of the whole window first, then divide each micro-batch's sum of "
          "losses by that: cross_entropy(..., reduction='sum') / targets_in_window.",
      .limits =
          "An error where accumulation is declared to be the mean over all targets. Otherwise a "
          "warning, as a mean over sequences, one a micro-batch, looks the same; a note if the "
          "numbers are the same in every window, as of two kinds of data, or if few windows are "
          "uneven, as those that end an epoch. Losses with smoothing, weights or further terms are "
          "not judged, nor optimizers in turns.",
      .sources = {"huggingface/transformers issue 34191",
                  "own reasoning: a mean of means is the mean only for equal counts"},
      .covers = {"G03"},
      .explains = {"training_loop/split_dependence"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kShareTolerance, kEnoughWindows, kUneven, kRareWindows},
      .judgement = Reads<&Judge>(),
      .examples = {{"24 and 8 targets count three quarters and one", Expect::kClean,
                    [] { return FirstOfTwo(0.75, true); }},
                   {"24 and 8 targets count alike", Expect::kFaulty,
                    [] { return FirstOfTwo(0.5, true); }},
                   {"the same in a program that declares nothing", Expect::kFaulty,
                    [] { return FirstOfTwo(0.5, false); }},
                   {"always 24 and 8, nothing declared", Expect::kFaulty,
                    [] {
                      return WindowsOf({{{0.5, 24}, {0.5, 8}}});
                    }},
                   {"numbers that differ by less than a hundredth", Expect::kClean,
                    [] {
                      return WindowsOf({{{0.75, 24}, {0.25, 8}}, {{0.5, 1000}, {0.5, 1006}}});
                    }}},
  };
}

}  // namespace dlcheck::training_loop
