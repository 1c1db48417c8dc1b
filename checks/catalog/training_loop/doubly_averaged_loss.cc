#include <algorithm>
#include <set>

#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/window_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::training_loop {
namespace {

// The divisors of the mean losses of a step; empty if another division explains their shares.
std::vector<double> DividedBy(const Windows& windows, const Windows::Window& window,
                              double tolerance) {
  if (DivisionOf(window, windows.full, tolerance) != Division::kOther) return {};
  return DividedAgainBy(window, tolerance);
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Windows& windows) {
  if (windows.interleaved) {
    return absl::FailedPreconditionError("several optimizers take turns");
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
  verdict.findings.push_back(WindowFinding(
      follows ? Severity::kWarning : Severity::kNote,
      StrCat("In all ", Counted(count, "sampled step"), " the mean loss of a batch was divided by ",
             by, ": backward() used ", Short(share), " of the mean loss."),
      found, share, 1));
  return verdict;
}

// Steps with one batch of eight samples each; the batch size may alternate.
Evidence Batches(double share, double targets, double other_share, double other_targets) {
  return WindowsOf({{{share, targets, 8}}, {{other_share, other_targets, 8}}});
}

}  // namespace

Check DoublyAveragedLoss() {
  return {
      .id = "training_loop/doubly_averaged_loss",
      .title = "A mean loss is divided by the batch size again",
      .promise = "A mean loss is never divided by its number of samples or targets again.",
      .why =
          "The gradient is too small by a factor of the batch size. A batch of another size trains "
          "with another effective learning rate.",
      .method =
          "Compares the gradient at each backward call with that of the mean loss over the same "
          "outputs and targets. In every sampled step, the ratio is one over the number of targets "
          "or of samples.",
      .fix =
          "Remove the division, or compute the loss with reduction='sum' before it. For gradient "
          "accumulation, divide only by the number of micro-batches.",
      .limits = {.needs = "A loss of torch.nn.functional and one optimizer at a time.",
                 .silent_when =
                     "Losses with label smoothing, weights or further terms are not judged. Losses "
                     "computed by hand and optimizers that take turns are not judged.",
                 .severity = "Warning if batches of several sizes all agree; otherwise note, "
                             "because a constant factor of the loss may look the same.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y) / len(x)  # already a mean
    loss.backward()
    optimizer.step())",
                 .good = R"(for x, y in loader:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step())"},
      .cpp =
          {.bad =
               R"(auto loss = F::cross_entropy(model->forward(x), y) / x.size(0);  // already a mean
loss.backward();)",
           .good = R"(auto loss = F::cross_entropy(model->forward(x), y);
loss.backward();)"},
      .sources = {"PyTorch documentation of the reduction of losses",
                  "own reasoning: the gradient is linear in the loss"},
      .covers = {"summed-instead-of-averaged-loss"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kShareTolerance, kEnoughWindows},
      .judgement = Reads<&Judge>(),
      .examples = {{"the mean", Expect::kClean, [] { return Batches(1, 32, 1, 32); }},
                   {"a constant weight of one over the larger batch size", Expect::kClean,
                    [] { return Batches(1.0 / 32, 32, 1.0 / 32, 20); }},
                   {"divided by the number of targets of each batch", Expect::kWarning,
                    [] { return Batches(1.0 / 32, 32, 1.0 / 20, 20); }},
                   {"divided by the targets of equal batches", Expect::kNote,
                    [] { return Batches(1.0 / 32, 32, 1.0 / 32, 32); }},
                   {"a token loss divided by the number of samples", Expect::kNote,
                    [] { return Batches(1.0 / 8, 32, 1.0 / 8, 32); }},
                   {"two micro-batches with a share of 0.5 each", Expect::kClean,
                    [] {
                      return WindowsOf({{{0.5, 2, 2}, {0.5, 2, 2}}});
                    }}},
  };
}

}  // namespace dlcheck::training_loop
