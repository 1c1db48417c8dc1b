#include <algorithm>

#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/window_finding.h"
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
    .meaning = "largest difference between a micro-batch's weight and its share of the targets",
    .source = "own reasoning: a smaller difference is below gradient noise"};

// The accumulation window whose micro-batches differ most.
const Windows::Window& MostUneven(const std::vector<const Windows::Window*>& windows) {
  return **std::ranges::max_element(windows, {}, &Windows::Window::Unevenness);
}

// The same unequal numbers in every window mean two kinds of data, which may have equal weights on
// purpose. Numbers that vary are not chosen.
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
  return StrCat("at step ", window.step, " each target of a micro-batch of ", least.targets,
                " counts ", Short(most.targets / least.targets),
                " times as much as each of a micro-batch of ", most.targets);
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
    return absl::FailedPreconditionError(
        "all micro-batches of each step had equal numbers of targets");
  }
  if (unknown > 0) return UnknownDivision(unknown, judged);
  Verdict verdict{
      .findings = {},
      .judged = StrCat(Counted(judged, "accumulation window"), " with unequal numbers of targets")};
  const auto count = static_cast<double>(alike.size());
  // Windows divided by their targets show that the program can do so.
  if (count < settings[kEnoughWindows] || 2 * count < static_cast<double>(judged)) return verdict;
  const Windows::Window& worst = MostUneven(alike);
  const bool is_rare = count < settings[kRareWindows] * static_cast<double>(all);
  const Severity mildest = NumbersVary(windows) && !is_rare ? Severity::kWarning : Severity::kNote;
  verdict.findings.push_back(
      WindowFinding(windows.declared == "mean" ? Severity::kError : mildest,
                    StrCat("In ", Described(alike),
                           ", micro-batches with different numbers of targets have equal weights, "
                           "so the loss is an unweighted mean over micro-batches: ",
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
      .title = "Unequal micro-batches are weighted equally",
      .promise = "Gradient accumulation weights micro-batches by their number of targets.",
      .why =
          "Targets in short micro-batches weigh more than targets in long ones. The minimized loss "
          "then depends on how a batch is split into micro-batches.",
      .method =
          "Compares the gradient at each backward call with that of the mean loss over the same "
          "targets. With unequal target counts, each ratio should be the micro-batch's share of "
          "the targets, but it is one over the number of micro-batches.",
      .fix =
          "Count the targets of the whole accumulation window first. Then divide each "
          "micro-batch's sum: cross_entropy(..., reduction='sum') / targets_in_window.",
      .limits =
          {.needs = "Accumulation windows whose micro-batches have unequal numbers of targets.",
           .silent_when = "Losses with label smoothing, weights or further terms are not judged. "
                          "Optimizers that take turns are not judged.",
           .severity =
               "Error if accumulation is declared as the mean over all targets; otherwise warning. "
               "Note if the target counts are the same in every accumulation window. Note if few "
               "accumulation windows are uneven, as at the end of an epoch.",
           .blind_spots = "A mean over sequences, one per micro-batch, looks the same. Two kinds "
                          "of data with fixed target counts may be weighted equally on purpose.",
           .sensitivity = ""},
      .python = {.bad = R"(for x, y in micro_batches:
    loss = F.cross_entropy(model(x), y, ignore_index=-100)
    (loss / len(micro_batches)).backward())",
                 .good = R"(targets = sum((y != -100).sum() for _, y in micro_batches)
for x, y in micro_batches:
    loss = F.cross_entropy(model(x), y, ignore_index=-100, reduction="sum")
    (loss / targets).backward())"},
      .cpp = {.bad =
                  R"(for (auto& batch : micro_batches) {  // each with a different number of targets
  auto loss = F::cross_entropy(model->forward(batch.data), batch.target);
  (loss / parts).backward();
})",
              .good = R"(auto options = F::CrossEntropyFuncOptions().reduction(torch::kSum);
for (auto& batch : micro_batches) {
  auto loss = F::cross_entropy(model->forward(batch.data), batch.target, options);
  (loss / targets).backward();  // those of all micro-batches
})"},
      .sources = {"huggingface/transformers issue 34191",
                  "own reasoning: the unweighted mean equals the mean only for equal counts"},
      .covers = {"unweighted-accumulation"},
      .explains = {"training_loop/split_dependence"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kShareTolerance, kEnoughWindows, kUneven, kRareWindows},
      .judgement = Reads<&Judge>(),
      .examples = {{"24 and 8 targets with weights 3/4 and 1/4", Expect::kClean,
                    [] { return FirstOfTwo(0.75, true); }},
                   {"24 and 8 targets with equal weights", Expect::kError,
                    [] { return FirstOfTwo(0.5, true); }},
                   {"the same, undeclared", Expect::kWarning,
                    [] { return FirstOfTwo(0.5, false); }},
                   {"always 24 and 8 targets, undeclared", Expect::kNote,
                    [] {
                      return WindowsOf({{{0.5, 24}, {0.5, 8}}});
                    }},
                   {"numbers of targets that differ by less than 0.01", Expect::kClean,
                    [] {
                      return WindowsOf({{{0.75, 24}, {0.25, 8}}, {{0.5, 1000}, {0.5, 1006}}});
                    }}},
  };
}

}  // namespace dlcheck::training_loop
