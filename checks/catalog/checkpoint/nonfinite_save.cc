#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/checkpoint/state_files.h"

namespace dlcheck::checkpoint {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const StateFiles& files) {
  if (files.looked_at.empty())
    return absl::NotFoundError("no saved file was checked for non-finite values");
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
       .message = StrCat(first->file, ", saved before step ", first->step, ", holds ",
                         Counted(Whole(first->elements), "non-finite element"),
                         " (NaN or Inf) among ", WithCommas(Whole(first->looked_at)), "."),
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
      .title = "A checkpoint contains NaN or Inf",
      .promise = "Saved parameters and optimizer state are finite.",
      .why =
          "A program that resumes from this file, or uses its weights, gets NaN. If the file "
          "replaced the previous one, the last good weights are gone.",
      .method = "Counts non-finite elements in all parameters and optimizer state of a saved file.",
      .fix =
          "Find the first non-finite value. Save only if torch.isfinite(loss), to a new file that "
          "then replaces the old one.",
      .limits = {.needs = "A saved file with parameters or optimizer state.",
                 .silent_when = "Only buffers are non-finite: masks hold -inf on purpose.",
                 .severity = "Always an error.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(optimizer.step()
if step % 1000 == 0:
    torch.save(model.state_dict(), "last.pt"))",
                 .good = R"(optimizer.step()
if step % 1000 == 0 and torch.isfinite(loss):
    torch.save(model.state_dict(), "last.pt.new")
    os.replace("last.pt.new", "last.pt"))"},
      .cpp = {},
      .sources = {"own reasoning: NaN is absorbing under every optimizer's arithmetic"},
      .covers = {"wrong-checkpoint-content"},
      .explains = {},
      .worst = Severity::kError,
      .live = true,
      .stands_at = Event::kSaved,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"all finite", Expect::kClean, [] { return Saved(0); }},
                   {"one non-finite element", Expect::kError, [] { return Saved(1); }}},
  };
}

}  // namespace dlcheck::checkpoint
