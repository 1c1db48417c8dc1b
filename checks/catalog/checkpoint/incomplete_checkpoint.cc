#include <map>
#include <set>

#include "checks/catalog/file_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/state_files.h"

namespace dlcheck::checkpoint {
namespace {

constexpr Setting kFiles{
    .name = "files",
    .value = 3,
    .low = 2,
    .high = 1e6,
    .unit = "files",
    .meaning = "files of weights alone in one folder that look like checkpoints",
    .source = "own reasoning: the best weights are one file, written over"};

struct Missing {
  std::set<std::string> files;
  int64_t first_step = 0, last_step = 0, count = 0;
  bool resumable = false;  // there is a use for it in a run that goes on alone
  void Add(const StateFiles::Save& save) {
    if (count++ == 0) first_step = save.step;
    last_step = save.step;
    files.insert(save.file);
    resumable |= save.contents.contains("scheduler") || save.contents.contains("scaler");
  }
};

Finding FindingOf(const Missing& missing, Severity severity, const std::string& message) {
  std::vector<Place> places;
  for (const std::string& file : missing.files) places.push_back({.thing = file, .file = ""});
  return {.severity = severity,
          .message = message,
          .places = std::move(places),
          .first_step = missing.first_step,
          .last_step = missing.last_step,
          .count = missing.count,
          .measured = static_cast<double>(missing.count),
          .bound = 0};
}

// Checkpoints with the optimizer, without what moves along with it.
Missing Incomplete(const StateFiles& files, const std::string& kind) {
  Missing missing;
  for (const StateFiles::Save& save : files.saves) {
    if (!save.followed || save.contents.contains(kind)) continue;
    if (save.contents.contains("model") && save.contents.contains("optimizer")) missing.Add(save);
  }
  return missing;
}

// Weights that a run may go on from: beside what moves along with the optimizer, or in several
// files of one folder. None if any file of the run has the optimizer.
Missing WithoutOptimizer(const StateFiles& files, double enough) {
  std::map<std::string, Missing> folders;
  for (const StateFiles::Save& save : files.saves) {
    if (save.contents.contains("optimizer")) return {};
    if (!save.followed || !save.contents.contains("model")) continue;
    folders[save.file.substr(0, save.file.rfind('/') + 1)].Add(save);
  }
  for (const auto& [folder, missing] : folders) {
    if (missing.resumable || static_cast<double>(missing.files.size()) >= enough) return missing;
  }
  return {};
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const StateFiles& files) {
  if (files.saves.empty()) return absl::NotFoundError("no file of state was saved");
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(files.saves.size()), "saved file")};
  // Whether anybody will go on from a file is known only of a run that does so itself.
  const bool resumes = files.put_in.contains("optimizer");
  const auto judge = [&](const std::string& kind, bool used, bool put_in) {
    const Missing missing = used ? Incomplete(files, kind) : Missing();
    if (missing.count == 0) return;
    verdict.findings.push_back(
        FindingOf(missing, resumes && !put_in ? Severity::kWarning : Severity::kNote,
                  StrCat(Counted(missing.count, "checkpoint"),
                         " with model and optimizer, the first before step ", missing.first_step,
                         ", lack the state of the ", kind,
                         ", which begins anew in a run that goes on from them.")));
  };
  judge("scheduler", files.scheduler_moves, files.put_in.contains("scheduler"));
  judge("scaler", files.scales, files.put_in.contains("scaler"));
  const Missing alone = files.keeps_state ? WithoutOptimizer(files, settings[kFiles]) : Missing();
  if (alone.count > 0) {
    verdict.findings.push_back(FindingOf(
        alone, Severity::kNote,
        StrCat("Weights were saved while training went on, in ",
               Counted(static_cast<int64_t>(alone.files.size()), "file"), " and first before step ",
               alone.first_step, ", and no file of the run holds the state of the optimizer.")));
  }
  return verdict;
}

}  // namespace

Check IncompleteCheckpoint() {
  return {
      .id = "checkpoint/incomplete_checkpoint",
      .promise = "A checkpoint holds all state that training goes on from.",
      .why =
          "A run that goes on from it has the weights of the old and the schedule, loss scale or "
          "moments of a new one.",
      .method =
          "What files hold that were saved while training went on, against what of the run has "
          "state: its optimizers, schedulers and loss scaler.",
      .fix = "Save scheduler.state_dict() and scaler.state_dict() beside that of the optimizer.",
      .limits =
          "A program may never go on from its files, or work the state out from an epoch: hence a "
          "note, and a warning only where the run itself went on from a file with an optimizer. "
          "Weights alone are noted beside a scheduler or scaler, or in three files of a folder.",
      .sources = {"PyTorch tutorial: saving and loading a general checkpoint", "own reasoning"},
      .covers = {"K01", "K02"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kSaved,
      .settings = {kFiles},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"the scheduler is in the file", Expect::kClean,
            [] {
              return WithFiles({.contents = "model optimizer scheduler",
                                .saves_over = true,
                                .scheduler_moves = true});
            }},
           {"it is not", Expect::kFaulty,
            [] { return WithFiles({.saves_over = true, .scheduler_moves = true}); }},
           {"it is not, in a run that went on from such a file", Expect::kFaulty,
            [] { return WithFiles({.loads = true, .saves_over = true, .scheduler_moves = true}); }},
           {"no scheduler moves", Expect::kClean, [] { return WithFiles({.saves_over = true}); }},
           {"the best weights", Expect::kClean,
            [] { return WithFiles({.contents = "model", .saves_over = true}); }},
           {"weights and the scheduler", Expect::kFaulty,
            [] { return WithFiles({.contents = "model scheduler", .saves_over = true}); }},
           {"weights and the scheduler, with the optimizer in another file", Expect::kClean,
            [] {
              return WithFiles({.contents = "model scheduler", .saves_over = true, .beside = true});
            }},
           {"weights alone, file after file", Expect::kFaulty,
            [] { return WithFiles({.contents = "model", .saves_numbered = true}); }}},
  };
}

}  // namespace dlcheck::checkpoint
