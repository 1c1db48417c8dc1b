#include <map>
#include <set>

#include "checks/catalog/examples/file_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/checkpoint/state_files.h"

namespace dlcheck::checkpoint {
namespace {

constexpr Setting kFiles{
    .name = "files",
    .value = 3,
    .low = 2,
    .high = 1e6,
    .unit = "files",
    .meaning = "fewest files of weights alone in one folder that count as checkpoints",
    .source = "own reasoning: a program keeps its best weights in one overwritten file"};

struct Missing {
  std::set<std::string> files;
  int64_t first_step = 0, last_step = 0, count = 0;
  bool resumable = false;  // a resumed run would use it
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

// Checkpoints with the optimizer but without the scheduler or scaler.
Missing Incomplete(const StateFiles& files, const std::string& kind) {
  Missing missing;
  for (const StateFiles::Save& save : files.saves) {
    if (!save.followed || save.contents.contains(kind)) continue;
    if (save.contents.contains("model") && save.contents.contains("optimizer")) missing.Add(save);
  }
  return missing;
}

// Weights that a run may resume from: saved with a scheduler or scaler, or in several files of one
// folder. None if any file of the run has the optimizer.
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
  if (files.saves.empty()) return absl::NotFoundError("no state was saved to a file");
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(files.saves.size()), "saved file")};
  // Whether a file will be resumed is known only for a run that resumed itself.
  const bool resumes = files.put_in.contains("optimizer");
  const auto judge = [&](const std::string& kind, bool used, bool put_in) {
    const Missing missing = used ? Incomplete(files, kind) : Missing();
    if (missing.count == 0) return;
    verdict.findings.push_back(FindingOf(
        missing, resumes && !put_in ? Severity::kWarning : Severity::kNote,
        StrCat(Counted(missing.count, "checkpoint"),
               " with model and optimizer, the first before step ", missing.first_step,
               ", lack the state of the ", kind, ": a resumed run resets the ", kind, ".")));
  };
  judge("scheduler", files.scheduler_moves, files.put_in.contains("scheduler"));
  judge("scaler", files.scales, files.put_in.contains("scaler"));
  const Missing alone = files.keeps_state ? WithoutOptimizer(files, settings[kFiles]) : Missing();
  if (alone.count > 0) {
    verdict.findings.push_back(FindingOf(
        alone, Severity::kNote,
        StrCat("The run saved weights during training in ",
               Counted(static_cast<int64_t>(alone.files.size()), "file"), ", first before step ",
               alone.first_step, ", but no file of the run holds the optimizer's state.")));
  }
  return verdict;
}

}  // namespace

Check IncompleteCheckpoint() {
  return {
      .id = "checkpoint/incomplete_checkpoint",
      .title = "Checkpoints lack the scheduler or optimizer state",
      .promise = "A checkpoint holds all state that a resumed run needs.",
      .why =
          "A resumed run combines the old weights with a new learning rate schedule, loss scale or "
          "optimizer state.",
      .method =
          "Compares the contents of files saved during training with the stateful parts of the "
          "run: optimizers, schedulers and loss scaler.",
      .fix =
          "Save scheduler.state_dict() and scaler.state_dict() together with "
          "optimizer.state_dict().",
      .limits = {.needs = "Files of model state, saved while training continues.",
                 .silent_when = "",
                 .severity = "Warning only if the run itself resumed from a file with an "
                             "optimizer. Otherwise a note: the program may never resume, or may "
                             "compute the state from the epoch. Note for weights alone if saved "
                             "with a scheduler or scaler, or as three files of a folder.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(torch.save({
    "model": model.state_dict(),
    "optimizer": optimizer.state_dict(),
}, "checkpoint.pt"))",
                 .good = R"(torch.save({
    "model": model.state_dict(),
    "optimizer": optimizer.state_dict(),
    "scheduler": scheduler.state_dict(),
    "scaler": scaler.state_dict(),
}, "checkpoint.pt"))"},
      .cpp = {.bad = R"(torch::save(model, "model.pt");)",
              .good = R"(torch::save(model, "model.pt");
torch::save(optimizer, "optimizer.pt");)"},
      .sources = {"PyTorch tutorial: saving and loading a general checkpoint", "own reasoning"},
      .covers = {"optimizer-state-not-saved", "schedule-state-not-saved"},
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
           {"the scheduler is not in the file", Expect::kNote,
            [] { return WithFiles({.saves_over = true, .scheduler_moves = true}); }},
           {"the scheduler is missing, in a run that resumed from such a file", Expect::kWarning,
            [] { return WithFiles({.loads = true, .saves_over = true, .scheduler_moves = true}); }},
           {"no scheduler steps", Expect::kClean, [] { return WithFiles({.saves_over = true}); }},
           {"the best weights", Expect::kClean,
            [] { return WithFiles({.contents = "model", .saves_over = true}); }},
           {"weights and the scheduler", Expect::kNote,
            [] { return WithFiles({.contents = "model scheduler", .saves_over = true}); }},
           {"weights and the scheduler, with the optimizer in a second file", Expect::kClean,
            [] {
              return WithFiles({.contents = "model scheduler", .saves_over = true, .beside = true});
            }},
           {"weights alone, in numbered files", Expect::kNote,
            [] { return WithFiles({.contents = "model", .saves_numbered = true}); }}},
  };
}

}  // namespace dlcheck::checkpoint
