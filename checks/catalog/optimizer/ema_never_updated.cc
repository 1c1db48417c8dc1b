#include <algorithm>

#include "checks/catalog/average_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/averaging.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kUpdates{.name = "updates",
                           .value = 8,
                           .low = 2,
                           .high = 1e6,
                           .unit = "updates",
                           .meaning = "updates of the average, after the first, that are needed",
                           .source = "own reasoning: weights that move are away from it by then"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const Averaging& averaging) {
  const auto& updates = averaging.updates;
  const auto count = static_cast<int64_t>(updates.size());
  if (static_cast<double>(count) < settings[kUpdates]) {
    return absl::NotFoundError(StrCat("only ", Counted(count, "update"), " of the average of the ",
                                      settings[kUpdates], " that are needed"));
  }
  Verdict verdict{.findings = {}, .judged = Counted(count, "update") + " of the average"};
  // The live weights were away from the average each time, and moved between.
  const bool inert = std::all_of(updates.begin(), updates.end(), [](const auto& update) {
    return update.moved == 0 && update.distance > 0;
  });
  const bool weights_move = updates.front().distance != updates.back().distance;
  if (!inert || !weights_move) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kError,
       .message =
           StrCat("None of ", Counted(count, "update"),
                  " of the averaged weights changed them, although the weights were ",
                  Short(updates.front().distance), " away at step ", updates.front().step, " and ",
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
      .promise = "Updates of averaged weights move them towards the live weights.",
      .why =
          "The average stays what it was at the start, so what is evaluated and kept is an "
          "untrained model.",
      .method =
          "What each update added to the averaged weights, and how far they were from the live "
          "ones after it: nothing was ever added although there was a distance that changed.",
      .fix =
          "Call update_parameters (or Average::Update) after each step with the model that is "
          "trained, not a copy; do not average in a type that cannot hold the small updates.",
      .limits =
          "Needs a program that tells of its averages (Probe::Averaged). The first update seen is "
          "left out, since it copies by design. A decay of exactly 1 looks the same.",
      .sources = {"PyTorch documentation of torch.optim.swa_utils.AveragedModel", "own reasoning"},
      .covers = {"O16"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kUpdates},
      .judgement = Reads<&Judge>(),
      .examples = {{"hardly moves", Expect::kClean,
                    [] { return Averaged({.moved = 1e-12, .distance = 0.5}); }},
                   {"never moves", Expect::kFaulty,
                    [] { return Averaged({.moved = 0, .distance = 0.5}); }},
                   {"weights that do not move either", Expect::kClean,
                    [] {
                      return Averaged({.moved = 0, .distance = 0.5, .growth = 0, .update = 0});
                    }}},
  };
}

}  // namespace dlcheck::optimizer
