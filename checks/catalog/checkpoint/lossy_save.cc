#include <optional>
#include <set>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/saves.h"

namespace dlcheck::checkpoint {
namespace {

// One finding for all saves that show one kind of loss.
void AddFinding(const Saves& saves, std::vector<std::string> Saves::Save::*lost, Severity severity,
                std::string_view fate, Verdict& verdict) {
  std::set<std::string> names;
  std::vector<int64_t> steps;
  for (const Saves::Save& save : saves.saves) {
    names.insert((save.*lost).begin(), (save.*lost).end());
    if (!(save.*lost).empty()) steps.push_back(save.step);
  }
  if (names.empty()) return;
  std::vector<Place> places;
  for (const std::string& name : names) places.push_back({.thing = name, .file = ""});
  const std::vector<std::string> listed(names.begin(), names.end());
  verdict.findings.push_back(
      {.severity = severity,
       .message = StrCat("In ", steps.size(), " of ",
                         Counted(static_cast<int64_t>(saves.saves.size()), "checkpoint"), " ",
                         Counted(static_cast<int64_t>(names.size()), "part"), " of the state (",
                         Listed(listed, 5), ") ", fate, ", first before step ", steps.front(), "."),
       .places = std::move(places),
       .first_step = steps.front(),
       .last_step = steps.back(),
       .count = static_cast<int64_t>(steps.size()),
       .measured = static_cast<double>(names.size()),
       .bound = 0});
}

absl::StatusOr<Verdict> Judge(const Settings&, const Saves& saves) {
  Verdict verdict{
      .findings = {},
      .judged = StrCat(Counted(static_cast<int64_t>(saves.saves.size()), "checkpoint"), " of ",
                       Counted(saves.saves.front().parts, "part"), " of the state")};
  AddFinding(saves, &Saves::Save::changed, Severity::kError,
             "did not come back from the file with the bits they had in memory", verdict);
  AddFinding(saves, &Saves::Save::missing, Severity::kWarning, "are not in the file", verdict);
  return verdict;
}

// Two saves in a run; the file of the second holds `stored` for the model, where memory holds 12.
Evidence Stored(std::optional<double> stored) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 4; ++step) {
    AddStep(run, {.held = {}});
    if (step % 2 == 0) continue;
    run.Event(Event::kSaved, 0, "file", "checkpoint.pt");
    run.Quantity(Quantity::kSavedDigest, "state", "counters", 10, step);
    run.Quantity(Quantity::kSavedDigest, "state", "model", 11, 12);
    run.Quantity(Quantity::kStoredDigest, "state", "counters", 10, step);
    const std::optional<double> held = step == 3 ? stored : 12;
    if (held) run.Quantity(Quantity::kStoredDigest, "state", "model", 11, *held);
  }
  return PlainOnly(run);
}

}  // namespace

Check LossySave() {
  return {
      .id = "checkpoint/lossy_save",
      .promise = "What a checkpoint's file gives back is, bit for bit, what was in memory.",
      .why =
          "Whoever goes on from that file, or uses its weights, has another model than the one "
          "that was trained.",
      .method =
          "Digests of each part of the state as it was written, against those of the same parts "
          "read back from the file right after.",
      .fix =
          "Write tensors in the type they have and wait until they are written: no half() or "
          "to(bfloat16) on the way, no update before an asynchronous save has its copy.",
      .limits =
          "Needs a program that shows what it saved and what it read back (Probe::Saved). A part "
          "that is not in the file at all is a warning: a program may leave out on purpose what "
          "it can make again.",
      .sources = {"own reasoning: equal bits have equal digests"},
      .covers = {"K04", "K07", "K08", "B12"},
      .explains = {"checkpoint/inexact_resume"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kSaved,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"the same bits", Expect::kClean, [] { return Stored(12); }},
                   {"other bits", Expect::kFaulty, [] { return Stored(13); }},
                   {"nothing of the model", Expect::kFaulty, [] { return Stored(std::nullopt); }}},
  };
}

}  // namespace dlcheck::checkpoint
