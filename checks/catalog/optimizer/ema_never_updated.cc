#include <algorithm>

#include "checks/catalog/examples/average_runs.h"
#include "checks/catalog/findings/average_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizer/averaging.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kUpdates{
    .name = "updates",
    .value = 8,
    .low = 2,
    .high = 1e6,
    .unit = "updates",
    .meaning = "fewest updates of the EMA after the first",
    .source = "own reasoning: by then, changing weights differ from the EMA"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const Averaging& averaging) {
  const auto& updates = averaging.updates;
  const auto count = static_cast<int64_t>(updates.size());
  DLCHECK_RETURN_IF_ERROR(HasUpdates(averaging, settings[kUpdates]));
  Verdict verdict{.findings = {}, .judged = Counted(count, "update") + " of the EMA weights"};
  // The live weights differed from the EMA weights each time, and changed in between.
  const bool inert = std::all_of(updates.begin(), updates.end(), [](const auto& update) {
    return update.moved == 0 && update.distance > 0;
  });
  const bool weights_move = updates.front().distance != updates.back().distance;
  if (!inert || !weights_move) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kError,
       .message = StrCat(
           "None of ", Counted(count, "update"),
           " of the EMA weights had an effect, although their distance from the live weights was ",
           Short(updates.front().distance), " at step ", updates.front().step, " and ",
           Short(updates.back().distance), " at step ", updates.back().step, "."),
       .places = {},
       .first_step = updates.front().step,
       .last_step = updates.back().step,
       .count = count,
       .measured = 0,
       .bound = 0});
  return verdict;
}

}  // namespace

Check EmaNeverUpdated() {
  return {
      .id = "optimizer/ema_never_updated",
      .title = "EMA weights never change",
      .promise = "Updates of EMA weights move the EMA weights toward the live weights.",
      .why =
          "The EMA weights keep their initial values, so the evaluated and saved model is "
          "untrained.",
      .method =
          "Records the change of the EMA weights at each update and their distance from the live "
          "weights after it. The change is always zero, although the distance is nonzero and "
          "changes.",
      .fix =
          "Call update_parameters() (or Average::Update) after each step with the trained model, "
          "not a copy of it. Keep EMA weights in a type that can hold small updates.",
      .limits = {.needs = "A program that reports its EMA updates (Probe::EmaUpdated).",
                 .silent_when =
                     "The first recorded update is ignored, because it copies by design.",
                 .severity = "",
                 .blind_spots = "A decay of exactly 1 looks the same.",
                 .sensitivity = ""},
      .python = {.bad = R"(ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.999))
initial = copy.deepcopy(model)
for x, y in loader:
    train_step(model, optimizer, x, y)
    ema.update_parameters(initial))",
                 .good = R"(ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.999))
for x, y in loader:
    train_step(model, optimizer, x, y)
    ema.update_parameters(model))"},
      .cpp = {},
      .sources = {"PyTorch documentation of torch.optim.swa_utils.AveragedModel", "own reasoning"},
      .covers = {"wrong-ema-weights"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kAverageBuilt,
      .settings = {kUpdates},
      .judgement = Reads<&Judge>(),
      .examples = {{"tiny changes", Expect::kClean,
                    [] { return Averaged({.moved = 1e-12, .distance = 0.5}); }},
                   {"no change", Expect::kError,
                    [] { return Averaged({.moved = 0, .distance = 0.5}); }},
                   {"live weights that do not change either", Expect::kClean,
                    [] {
                      return Averaged({.moved = 0, .distance = 0.5, .growth = 0, .update = 0});
                    }}},
  };
}

}  // namespace dlcheck::optimizer
