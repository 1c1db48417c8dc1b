#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/state_files.h"

namespace dlcheck::checkpoint {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const StateFiles& files) {
  if (files.looked_at.empty()) return absl::NotFoundError("the numbers of no file were looked at");
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(files.looked_at.size()), "saved file")};
  const StateFiles::Nonfinite* first = nullptr;
  int64_t count = 0, last_step = 0;
  for (const StateFiles::Nonfinite& file : files.looked_at) {
    if (!(file.elements > 0)) continue;
    if (first == nullptr || file.step < first->step) first = &file;
    last_step = std::max(last_step, file.step);
    ++count;
  }
  if (first == nullptr) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kError,
       .message =
           StrCat(first->file, ", saved before step ", first->step, ", holds ",
                  Counted(Whole(first->elements), "element"), " of ",
                  WithCommas(Whole(first->looked_at)), " that are not finite."),
       .places = {{.thing = first->file, .file = ""}},
       .first_step = first->step,
       .last_step = last_step,
       .count = count,
       .measured = first->elements,
       .bound = 0});
  return verdict;
}

Evidence Saved(double nonfinite) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 4; ++step) {
    AddStep(run, {.held = {}});
    run.Event(Event::kSaved, 0, "file", "last.pt");
    run.Quantity(Quantity::kSavedNonfinite, "file", "last.pt", step == 3 ? nonfinite : 0, 2688);
  }
  return PlainOnly(run);
}

}  // namespace

Check NonfiniteSave() {
  return {
      .id = "checkpoint/nonfinite_save",
      .promise = "What is saved of parameters and of the optimizer's state is finite.",
      .why =
          "Whoever goes on from that file, or uses its weights, has NaN; if it was written over "
          "the one before, the last good weights are gone.",
      .method =
          "Elements of all parameters and optimizer state in a saved file that are not finite.",
      .fix =
          "Find where the first such value came from, and save only after "
          "torch.isfinite(loss), to a new file that then replaces the old one.",
      .limits = "Buffers are not judged: masks hold -inf on purpose.",
      .sources = {"own reasoning: NaN is absorbing under every optimizer's arithmetic"},
      .covers = {"K04"},
      .explains = {},
      .worst = Severity::kError,
      .live = true,
      .stands_at = Event::kSaved,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"all finite", Expect::kClean, [] { return Saved(0); }},
                   {"one element", Expect::kFaulty, [] { return Saved(1); }}},
  };
}

}  // namespace dlcheck::checkpoint
