#include <algorithm>

#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/window_finding.h"
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

// A constant factor of the loss gives every accumulation window the same sum of shares. Only a
// division by the number of micro-batches follows that number.
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
  Verdict verdict{.findings = {}, .judged = Counted(judged, "accumulation window")};
  // Two of four micro-batches at a quarter each may also be a short window, so full windows decide.
  const size_t full_twice = OfSize(twice, windows.full).size();
  if (full_twice < full || full == 0) {
    const auto unknown = static_cast<int64_t>(sorted[Division::kOther].size());
    if (unknown > 0) return UnknownDivision(unknown, judged);
    return verdict;
  }
  if (static_cast<double>(full_twice) < settings[kEnoughWindows]) return verdict;
  const bool declared = windows.declared == "mean";
  // Half of a squared error, divided once, is the same.
  const bool may_be_half = windows.has_distance && twice.front()->micro.size() == 2;
  if (!declared && !FollowsTheNumber(twice) && may_be_half) return verdict;
  const Severity mildest = FollowsTheNumber(twice) ? Severity::kWarning : Severity::kNote;
  const double share = twice.front()->Share();
  verdict.findings.push_back(
      WindowFinding(declared ? Severity::kError : mildest,
                    StrCat("In all ", Described(twice), " the losses were divided twice: at step ",
                           twice.front()->step, " their shares sum to ", Short(share), " (1 / ",
                           twice.front()->micro.size(), "), but the shares of a mean sum to 1."),
                    twice, share, 1));
  return verdict;
}

}  // namespace

Check DoublyDividedLoss() {
  return {
      .id = "training_loop/doubly_divided_loss",
      .title = "The accumulated loss is divided twice",
      .promise =
          "The loss of an accumulation window is divided by its number of micro-batches only once.",
      .why =
          "The gradient is too small by the number of micro-batches. The model trains with a "
          "learning rate that nobody chose.",
      .method =
          "Compares the gradient at each backward call with that of the mean loss over the same "
          "targets (its share). In every full accumulation window, the shares sum to one over the "
          "number of micro-batches. Each share has the size that a second division gives.",
      .fix =
          "Remove one division. If a trainer or engine divides the loss in its own backward(), do "
          "not divide by accumulation_steps in the loop.",
      .limits = {.needs = "Gradient accumulation and one optimizer at a time.",
                 .silent_when = "Losses with label smoothing, weights or further terms are not "
                                "judged. Optimizers that take turns are not judged. Two "
                                "micro-batches with mse_loss or the like, undeclared: half of a "
                                "squared error looks alike.",
                 .severity = "Error if accumulation is declared as the mean. Warning if "
                             "accumulation windows of several sizes all agree. Otherwise note, "
                             "because a constant factor of the loss may look the same.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:
    loss = criterion(model(x), y) / accumulation_steps
    accelerator.backward(loss)  # divides the loss again)",
                 .good = R"(for x, y in loader:
    loss = criterion(model(x), y)
    accelerator.backward(loss)  # divides the loss)"},
      .cpp = {.bad = R"(for (auto& batch : micro_batches) {
  auto loss = criterion(model->forward(batch.data), batch.target) / parts;
  (loss / parts).backward();  // divides the loss again
})",
              .good = R"(for (auto& batch : micro_batches) {
  auto loss = criterion(model->forward(batch.data), batch.target);
  (loss / parts).backward();
})"},
      .sources = {"own reasoning: the gradient is linear in the loss"},
      .covers = {"doubly-scaled-accumulation"},
      .explains = {"training_loop/split_dependence"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kShareTolerance, kEnoughWindows},
      .judgement = Reads<&Judge>(),
      .examples = {{"four micro-batches with a share of 1/4 each", Expect::kClean,
                    [] { return FourShares(0.25, true); }},
                   {"half of the error, of two micro-batches each", Expect::kClean,
                    [] {
                      const Windows::MicroBatch quarter{0.25, 32};
                      return WindowsOf({{quarter, quarter}}, /*declared=*/false, "mse");
                    }},
                   {"a quarter of the loss, of two micro-batches each", Expect::kNote,
                    [] {
                      const Windows::MicroBatch quarter{0.25, 32};
                      return WindowsOf({{quarter, quarter}});
                    }},
                   {"a share of 1/16 each", Expect::kError,
                    [] { return FourShares(0.0625, true); }},
                   {"a share of 1/16 each, undeclared", Expect::kNote,
                    [] { return FourShares(0.0625, false); }},
                   {"accumulation windows of two sizes, undeclared", Expect::kWarning,
                    [] {
                      const Windows::MicroBatch ninth{1.0 / 9, 32}, quarter{0.25, 32};
                      return WindowsOf({{ninth, ninth, ninth}, {quarter, quarter}});
                    }}},
  };
}

}  // namespace dlcheck::training_loop
