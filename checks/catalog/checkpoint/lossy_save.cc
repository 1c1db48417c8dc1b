#include <optional>
#include <set>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/checkpoint/saves.h"

namespace dlcheck::checkpoint {
namespace {

// One finding for all saves that lost parts in the same way.
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
             "had different bits in the file than in memory", verdict);
  AddFinding(saves, &Saves::Save::missing, Severity::kWarning, "could not be found in the file",
             verdict);
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
      .title = "Saved state differs from the state in memory",
      .promise = "A checkpoint file returns, bit for bit, the state that was in memory.",
      .why =
          "A program that resumes from this file, or uses its weights, has a different model than "
          "the trained one.",
      .method =
          "Compares digests of each part of the state in memory with digests of the part in the "
          "file.",
      .fix =
          "Save tensors in their own dtype, without half() or to(bfloat16). Before the next "
          "update, wait until an asynchronous save has its copy.",
      .limits = {.needs = "A program that reports saved and restored parts (Probe::Saved).",
                 .silent_when = "",
                 .severity = "Error. Warning for a part that the file lacks: the program may "
                             "recompute such a part.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(state = {k: v.half() for k, v in model.state_dict().items()}
checkpoint = {"model": state, "step": step}
torch.save(checkpoint, "checkpoint.pt"))",
                 .good = R"(state = model.state_dict()  # in the dtype of the weights
checkpoint = {"model": state, "step": step}
torch.save(checkpoint, "checkpoint.pt"))"},
      .cpp = {},
      .sources = {"own reasoning: equal bits have equal digests"},
      .covers = {"wrong-checkpoint-content", "precision-lost-in-checkpoint",
                 "save-races-with-update", "cpp-incomplete-archive"},
      .explains = {"checkpoint/inexact_resume"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kSaved,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"the same bits", Expect::kClean, [] { return Stored(12); }},
                   {"different bits", Expect::kError, [] { return Stored(13); }},
                   {"the model is missing", Expect::kWarning, [] { return Stored(std::nullopt); }}},
  };
}

}  // namespace dlcheck::checkpoint
