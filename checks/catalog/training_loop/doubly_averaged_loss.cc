#include <algorithm>
#include <set>

#include "checks/catalog/window_finding.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::training_loop {
namespace {

// The numbers that the losses of a step were divided by although they are means; empty where
// something else explains what they start from.
std::vector<double> DividedBy(const Windows& windows, const Windows::Window& window,
                              double tolerance) {
  if (DivisionOf(window, windows.full, tolerance) != Division::kOther) return {};
  return DividedAgainBy(window, tolerance);
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Windows& windows) {
  if (windows.interleaved) {
    return absl::FailedPreconditionError("several optimizers step in turns");
  }
  const auto count = static_cast<int64_t>(windows.windows.size());
  Verdict verdict{.findings = {}, .judged = Counted(count, "sampled step")};
  if (static_cast<double>(count) < settings[kEnoughWindows]) return verdict;
  std::vector<const Windows::Window*> found;
  std::set<double> divisors;
  for (const Windows::Window& window : windows.windows) {
    const std::vector<double> by = DividedBy(windows, window, settings[kShareTolerance]);
    if (by.empty()) return verdict;
    found.push_back(&window);
    divisors.insert(by.begin(), by.end());
  }
  const bool follows = divisors.size() > 1;
  const std::string by =
      follows ? StrCat("the number of its targets or samples, ", Short(*divisors.begin()), " to ",
                       Short(*divisors.rbegin()))
              : StrCat(Short(*divisors.begin()), ", the number of its targets or samples");
  const double share = found.front()->micro.front().share;
  verdict.findings.push_back(
      WindowFinding(follows ? Severity::kWarning : Severity::kNote,
                    StrCat("In all of ", Counted(count, "sampled step"),
                           " the mean loss of a batch was divided by ", by,
                           ": backward started from ", Short(share), " of it."),
                    found, share, 1));
  return verdict;
}

// Steps of one batch of eight samples, or of two sizes in turns.
Evidence Batches(double share, double targets, double other_share, double other_targets) {
  return WindowsOf({{{share, targets, 8}}, {{other_share, other_targets, 8}}});
}

}  // namespace

Check DoublyAveragedLoss() {
  return {
      .id = "training_loop/doubly_averaged_loss",
      .promise = "A loss that is a mean is not divided by the number of its terms again.",
      .why =
          "The gradient is as many times too small as there are samples, and a batch of another "
          "size trains with another rate.",
      .method =
          "What each backward call starts from, as a share of the mean loss of the same outputs "
          "and targets: in every sampled step it is one over the number of targets, or of samples "
          "in the batch.",
      .fix =
          "Leave out the division, or reduce the loss by reduction='sum' before it. Divide by the "
          "number of micro-batches alone where gradients are accumulated.",
      .limits =
          "A warning if batches of several sizes all agree, else a note: a constant in front of "
          "the loss may look the same. Losses with smoothing, weights or further terms, those "
          "worked out by hand, and optimizers in turns, are not judged.",
      .sources = {"PyTorch documentation of the reduction of losses",
                  "own reasoning: the gradient is linear in the loss"},
      .covers = {"L02"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kShareTolerance, kEnoughWindows},
      .judgement = Reads<&Judge>(),
      .examples = {{"the mean", Expect::kClean, [] { return Batches(1, 32, 1, 32); }},
                   {"a weight that is one over the larger batch alone", Expect::kClean,
                    [] { return Batches(1.0 / 32, 32, 1.0 / 32, 20); }},
                   {"one over each batch's targets", Expect::kFaulty,
                    [] { return Batches(1.0 / 32, 32, 1.0 / 20, 20); }},
                   {"one over the targets of equal batches", Expect::kFaulty,
                    [] { return Batches(1.0 / 32, 32, 1.0 / 32, 32); }},
                   {"one over the samples of batches of tokens", Expect::kFaulty,
                    [] { return Batches(1.0 / 8, 32, 1.0 / 8, 32); }},
                   {"two micro-batches that count half each", Expect::kClean,
                    [] {
                      return WindowsOf({{{0.5, 2, 2}, {0.5, 2, 2}}});
                    }}},
  };
}

}  // namespace dlcheck::training_loop
