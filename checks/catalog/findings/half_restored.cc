#include "checks/catalog/findings/half_restored.h"

#include <algorithm>
#include <utility>

#include "checks/engine/text.h"

namespace dlcheck::checkpoint {
namespace {

// The model file of an optimizer whose state went on without weights; empty if weights may have
// come from elsewhere: another file was read, or the model was trained before.
std::string UnreadModel(const StateFiles& files, const StateFiles::Load& load) {
  const bool reads_optimizers_alone = std::ranges::all_of(files.loads, [](const auto& other) {
    return other.contents == StateFiles::Contents{"optimizer"};
  });
  if (!reads_optimizers_alone || files.put_in.contains("model") || !load.into_untrained) return "";
  return files.PairOf(load.file, "model");
}

std::string UnreadOptimizer(const StateFiles& files, const StateFiles::Load& load) {
  const bool goes_on = load.contents.contains("model") && load.put_in.contains("model") &&
                       (files.trains_loaded || load.into_trained) && files.fits_whole;
  if (!goes_on || !files.keeps_state || files.put_in.contains("optimizer")) return "";
  return files.PairOf(load.file, "optimizer");
}

// The optimizer goes on where its file ends, and the model does not.
bool WentElsewhere(const StateFiles& files, const StateFiles::Load& load) {
  return !files.elsewhere.empty() && load.steps_after > 0 && load.contents.contains("model") &&
         load.contents.contains("optimizer") && load.put_in.contains("optimizer");
}

Finding Elsewhere(const StateFiles& files, const StateFiles::Load& load) {
  return {
      .severity = Severity::kWarning,
      .message = StrCat("The run loaded the optimizer of ", load.file, " before step ", load.step,
                        ", but no weights into the model that it trains. load_state_dict() was "
                        "called on another ",
                        files.elsewhere.substr(files.elsewhere.rfind('/') + 1), " object."),
      .places = {{.thing = load.file, .file = ""}, {.thing = files.elsewhere, .file = ""}},
      .first_step = load.step,
      .last_step = load.step,
      .count = 1,
      .measured = 1,
      .bound = 0};
}

}  // namespace

bool Resumes(const StateFiles& files, const StateFiles::Load& load) {
  return !load.saved_here && load.step == 0 && !files.has_frozen;
}

std::string StepsAfter(const StateFiles::Load& load) {
  return StrCat(Counted(load.steps_after, "step"), " followed with ",
                load.keeps_optimizer ? "the earlier state" : "new state");
}

bool LacksItsModel(const StateFiles& files, const StateFiles::Load& load) {
  return load.steps_after > 0 && !files.PairOf(load.file, "model").empty();
}

std::optional<Finding> HalfRestored(const StateFiles& files, const StateFiles::Load& load) {
  if (WentElsewhere(files, load)) return Elsewhere(files, load);
  if (load.steps_after == 0) return std::nullopt;
  const std::string model = UnreadModel(files, load), optimizer = UnreadOptimizer(files, load);
  if (model.empty() && optimizer.empty()) return std::nullopt;
  const std::string& unread = model.empty() ? optimizer : model;
  std::string message =
      model.empty() ? StrCat("The run loaded the model of ", load.file, " before step ", load.step,
                             ", but not the optimizer of ", unread, ", which it writes with it. ",
                             StepsAfter(load), ".")
                    : StrCat("The run loaded the optimizer of ", load.file, " before step ",
                             load.step, ", but not the weights of ", unread,
                             ", which it writes with it. The model began with new weights.");
  return Finding{.severity = Resumes(files, load) ? Severity::kWarning : Severity::kNote,
                 .message = std::move(message),
                 .places = {{.thing = load.file, .file = ""}, {.thing = unread, .file = ""}},
                 .first_step = load.step,
                 .last_step = load.step,
                 .count = 1,
                 .measured = 1,
                 .bound = 0};
}

}  // namespace dlcheck::checkpoint
