#include <algorithm>

#include "checks/catalog/file_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/state_files.h"

namespace dlcheck::checkpoint {
namespace {

// What the file held, the run has a use for, and was put into nothing.
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

// Going back to weights that the run itself had saved, and going on from weights that fit in part
// or are frozen in part, is done on purpose.
bool Resumes(const StateFiles& files, const StateFiles::Load& load) {
  return !load.saved_here && load.step == 0 && files.fits_whole && !files.has_frozen;
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
    if (!load.contents.contains("model") || !load.put_in.contains("model")) continue;
    if (load.steps_after == 0 || !(files.trains_loaded || load.into_trained)) continue;
    ++judged;
    const std::vector<std::string> names = Forgotten(files, load);
    if (names.empty() || !verdict.findings.empty()) continue;
    std::string message =
        StrCat("Of ", load.file, " the model was put in before step ", load.step, ", but not the ",
               Listed(names), " that it holds too; ", Counted(load.steps_after, "step"),
               load.keeps_optimizer ? " followed with that of before" : " followed with a new one");
    if (WritesSuch(files)) message += ", and the run writes such files itself";
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
      .promise = "A run that goes on from a checkpoint puts in all state that the file holds.",
      .why =
          "The moments of the optimizer, the position of the schedule or the loss scale begin anew "
          "while the weights do not: the loss jumps after each resumption.",
      .method =
          "What a loaded file holds, against the calls of load_state_dict that follow, where a "
          "model was loaded and then trained.",
      .fix =
          "Call optimizer.load_state_dict(checkpoint['optimizer']), and the same of the scheduler "
          "and the scaler, before the first step.",
      .limits =
          "Beginning a new training from such a file is legal: hence a warning, and a note if the "
          "run had saved the file itself, the model takes only a part of it, parameters are "
          "frozen, or steps came before. State that is put in without load_state_dict is not "
          "seen. An average alone is not judged.",
      .sources = {"PyTorch tutorial: saving and loading a general checkpoint", "own reasoning"},
      .covers = {"K01", "K02"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLoaded,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"the optimizer's state is put in", Expect::kClean,
            [] { return WithFiles({.loads = true}); }},
           {"it is not", Expect::kFaulty,
            [] { return WithFiles({.loads = true, .puts_in_optimizer = false}); }},
           {"an optimizer without state", Expect::kClean,
            [] {
              return WithFiles({.loads = true, .puts_in_optimizer = false, .keeps_state = false});
            }},
           {"a part of the model", Expect::kFaulty,
            [] { return WithFiles({.loads = true, .puts_in_optimizer = false, .share = 0.9}); }},
           {"weights alone in the file", Expect::kClean,
            [] {
              return WithFiles({.contents = "model", .loads = true, .puts_in_optimizer = false});
            }},
           {"back to a file of the same run", Expect::kFaulty,
            [] {
              return WithFiles(
                  {.puts_in_optimizer = false, .saves_over = true, .loads_back = true});
            }},
           {"back to it in a model that has trained", Expect::kFaulty,
            [] {
              return WithFiles({.puts_in_optimizer = false,
                                .saves_over = true,
                                .loads_back = true,
                                .fed = "Net"});
            }},
           {"the schedule is forgotten", Expect::kFaulty,
            [] {
              return WithFiles({.contents = "model optimizer scheduler",
                                .loads = true,
                                .scheduler_moves = true});
            }}},
  };
}

}  // namespace dlcheck::checkpoint
