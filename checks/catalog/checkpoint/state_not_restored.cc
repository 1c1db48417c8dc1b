#include <algorithm>
#include <optional>
#include <utility>

#include "checks/catalog/examples/file_runs.h"
#include "checks/catalog/findings/half_restored.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/checkpoint/state_files.h"

namespace dlcheck::checkpoint {
namespace {

// Parts of the file that the run uses but did not restore.
std::vector<std::string> Forgotten(const StateFiles& files, const StateFiles::Load& load) {
  std::vector<std::string> names;
  const auto judge = [&](std::string_view kind, bool used) {
    if (used && load.contents.contains(kind) && !files.put_in.contains(kind)) {
      names.emplace_back(kind);
    }
  };
  judge("optimizer", files.keeps_state);
  judge("scheduler", files.scheduler_moves);
  judge("scaler", files.scales);
  return names;
}

bool WritesSuch(const StateFiles& files) {
  return std::ranges::any_of(files.saves, [](const StateFiles::Save& save) {
    return save.contents.contains("model") && save.contents.contains("optimizer");
  });
}

absl::StatusOr<Verdict> Judge(const Settings&, const StateFiles& files) {
  Verdict verdict;
  int64_t judged = 0;
  for (const StateFiles::Load& load : files.loads) {
    std::optional<Finding> half = HalfRestored(files, load);
    if (half || LacksItsModel(files, load)) {
      ++judged;
      if (half && verdict.findings.empty()) verdict.findings.push_back(*std::move(half));
      continue;
    }
    if (!load.contents.contains("model") || !load.put_in.contains("model")) continue;
    if (load.steps_after == 0 || !(files.trains_loaded || load.into_trained)) continue;
    ++judged;
    if (!files.fits_whole) continue;  // another model, which its optimizer's state does not fit
    const std::vector<std::string> names = Forgotten(files, load);
    if (names.empty() || !verdict.findings.empty()) continue;
    std::string message =
        StrCat("The run loaded the model of ", load.file, " before step ", load.step,
               ", but not the ", Listed(names), " in the same file. ", StepsAfter(load));
    if (WritesSuch(files)) message += ", and the run also writes such files";
    verdict.findings.push_back(
        {.severity = Resumes(files, load) ? Severity::kWarning : Severity::kNote,
         .message = message + ".",
         .places = {{.thing = load.file, .file = ""}},
         .first_step = load.step,
         .last_step = load.step,
         .count = static_cast<int64_t>(names.size()),
         .measured = static_cast<double>(names.size()),
         .bound = 0});
  }
  if (judged == 0) {
    return absl::NotFoundError("no file was loaded into a model that was then trained");
  }
  verdict.judged = Counted(judged, "loaded file");
  return verdict;
}

}  // namespace

Check StateNotRestored() {
  return {
      .id = "checkpoint/state_not_restored",
      .title = "Resuming does not restore the whole state",
      .promise = "A run that resumes from a checkpoint restores all state in the file.",
      .why =
          "Optimizer moments, schedule position or loss scale are reset while the weights are not. "
          "The loss jumps after each resume.",
      .method =
          "Compares the contents of a loaded file with the load_state_dict calls that follow. "
          "Judges only models that are trained after the load. Also reports "
          "weights that went into an object other than the model whose optimizer was restored. "
          "Looks for a second file, too, that the run writes in the same steps and never reads.",
      .fix =
          "Call optimizer.load_state_dict(checkpoint['optimizer']), and the same for scheduler and "
          "scaler, before the first step. Load the weights into the model that is trained.",
      .limits = {.needs = "A loaded file with a model and an optimizer, scheduler or scaler, "
                          "or one file for each, followed by training.",
                 .silent_when = "Only EMA weights are not restored. The model takes only a part of "
                                "the file, as with a new head.",
                 .severity = "Warning, as starting a new training from such a file is healthy. "
                             "Note if the run saved the file itself, steps came before, or "
                             "parameters are frozen.",
                 .blind_spots = "State that is restored without load_state_dict is not seen.",
                 .sensitivity = ""},
      .python = {.bad = R"(checkpoint = torch.load("checkpoint.pt")
model.load_state_dict(checkpoint["model"])
train(model, optimizer, scheduler))",
                 .good = R"(checkpoint = torch.load("checkpoint.pt")
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
scheduler.load_state_dict(checkpoint["scheduler"])
train(model, optimizer, scheduler))"},
      .cpp = {.bad = R"(torch::load(model, "model.pt");
TrainOneEpoch(model, *loader, optimizer);)",
              .good = R"(torch::load(model, "model.pt");
torch::load(optimizer, "optimizer.pt");
TrainOneEpoch(model, *loader, optimizer);)"},
      .sources = {"PyTorch tutorial: saving and loading a general checkpoint", "own reasoning"},
      .covers = {"optimizer-state-not-saved", "schedule-state-not-saved",
                 "pretrained-weights-lost"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLoaded,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"the optimizer's state is restored", Expect::kClean,
            [] { return WithFiles({.loads = true}); }},
           {"the optimizer's state is not restored", Expect::kWarning,
            [] { return WithFiles({.loads = true, .puts_in_optimizer = false}); }},
           {"the weights went into another object", Expect::kWarning,
            [] { return WithFiles({.loads = true, .elsewhere = true}); }},
           {"an optimizer without state", Expect::kClean,
            [] {
              return WithFiles({.loads = true, .puts_in_optimizer = false, .keeps_state = false});
            }},
           {"only a part of the model fits", Expect::kClean,
            [] { return WithFiles({.loads = true, .puts_in_optimizer = false, .share = 0.9}); }},
           {"weights alone in the file", Expect::kClean,
            [] {
              return WithFiles({.contents = "model", .loads = true, .puts_in_optimizer = false});
            }},
           {"back to a file of the same run", Expect::kNote,
            [] {
              return WithFiles(
                  {.puts_in_optimizer = false, .saves_over = true, .loads_back = true});
            }},
           {"back to a file of the same run, in a trained model", Expect::kNote,
            [] {
              return WithFiles({.puts_in_optimizer = false,
                                .saves_over = true,
                                .loads_back = true,
                                .fed = "Net"});
            }},
           {"both files of a checkpoint are read", Expect::kClean, [] { return WithPair({}); }},
           {"the optimizer's file is not read", Expect::kWarning,
            [] { return WithPair({.reads_optimizer = false}); }},
           {"a file that is not always written with it", Expect::kClean,
            [] { return WithPair({.reads_optimizer = false, .is_pair = false}); }},
           {"the model's file is not read", Expect::kWarning,
            [] { return WithPair({.reads_model = false}); }},
           {"the optimizer goes back, and the model stays as it is", Expect::kClean,
            [] { return WithPair({.reads_model = false, .trains_before = true}); }},
           {"the scheduler's state is not restored", Expect::kWarning,
            [] {
              return WithFiles({.contents = "model optimizer scheduler",
                                .loads = true,
                                .scheduler_moves = true});
            }}},
  };
}

}  // namespace dlcheck::checkpoint
