#include <algorithm>

#include "checks/catalog/window_finding.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"

namespace dlcheck::training_loop {
namespace {

using List = std::vector<const Windows::Window*>;

List OfSize(const List& windows, size_t size) {
  List found;
  std::ranges::copy_if(windows, std::back_inserter(found), [size](const Windows::Window* window) {
    return window->micro.size() == size;
  });
  return found;
}

// A constant in front of the loss gives every window the same sum of shares; only a division by a
// window's own number of micro-batches follows that number.
bool FollowsTheNumber(const List& twice) {
  return std::ranges::any_of(twice, [&](const Windows::Window* window) {
    return window->micro.size() != twice.front()->micro.size();
  });
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Windows& windows) {
  DLCHECK_RETURN_IF_ERROR(IsAWindowQuestion(windows));
  SortedWindows sorted = Sorted(windows, 2, settings[kShareTolerance]);
  const List& twice = sorted[Division::kTwice];
  int64_t judged = 0;
  size_t full = 0;
  for (const auto& [division, found] : sorted) {
    judged += static_cast<int64_t>(found.size());
    full += OfSize(found, windows.full).size();
  }
  Verdict verdict{.findings = {}, .judged = Counted(judged, "window")};
  // Two of four micro-batches at a quarter each could be undersized windows as well as these, so
  // that full windows decide.
  const size_t full_twice = OfSize(twice, windows.full).size();
  if (full_twice < full || full == 0) {
    const auto unknown = static_cast<int64_t>(sorted[Division::kOther].size());
    if (unknown > 0) return UnknownDivision(unknown, judged);
    return verdict;
  }
  if (static_cast<double>(full_twice) < settings[kEnoughWindows]) return verdict;
  const bool declared = windows.declared == "mean";
  const Severity mildest = FollowsTheNumber(twice) ? Severity::kWarning : Severity::kNote;
  const double share = twice.front()->Share();
  verdict.findings.push_back(WindowFinding(
      declared ? Severity::kError : mildest,
      StrCat("In all ", Described(twice), " the losses were divided twice: their shares add to ",
             Short(share), " at step ", twice.front()->step, ", that is 1 / ",
             twice.front()->micro.size(), ", where a mean adds to 1."),
      twice, share, 1));
  return verdict;
}

// Windows of four equal micro-batches with this share each.
Evidence Shares(double share, bool declared) {
  return WindowsOf({std::vector<Windows::MicroBatch>(4, {share, 32})}, declared);
}

}  // namespace

Check DoublyDividedLoss() {
  return {
      .id = "training_loop/doubly_divided_loss",
      .promise = "The loss of a window of micro-batches is divided by what it holds only once.",
      .why =
          "The gradient is as many times too small as there are micro-batches, so the model "
          "trains with a rate that nobody chose.",
      .method =
          "What each backward call starts from, as a share of the mean loss of the same outputs "
          "and targets; in every full window the shares add to one over the number of "
          "micro-batches and each is as large as a second division makes it.",
      .fix =
          "Leave out one division: a loop that divides the loss by accumulation_steps must not use "
          "a trainer or an engine whose backward() divides too.",
      .limits =
          "An error where accumulation is declared to be the mean. Otherwise a note, as a constant "
          "in front of the loss may look the same, and a warning if windows of several sizes all "
          "agree. Losses with smoothing, weights or further terms, and optimizers in turns, are "
          "not "
          "judged.",
      .sources = {"own reasoning: the gradient is linear in the loss"},
      .covers = {"G02"},
      .explains = {"training_loop/split_dependence"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kShareTolerance, kEnoughWindows},
      .judgement = Reads<&Judge>(),
      .examples = {{"four micro-batches that count a quarter each", Expect::kClean,
                    [] { return Shares(0.25, true); }},
                   {"a sixteenth each", Expect::kFaulty, [] { return Shares(0.0625, true); }},
                   {"a sixteenth each, undeclared", Expect::kFaulty,
                    [] { return Shares(0.0625, false); }},
                   {"windows of two sizes, undeclared", Expect::kFaulty,
                    [] {
                      const Windows::MicroBatch ninth{1.0 / 9, 32}, quarter{0.25, 32};
                      return WindowsOf({{ninth, ninth, ninth}, {quarter, quarter}});
                    }}},
  };
}

}  // namespace dlcheck::training_loop
