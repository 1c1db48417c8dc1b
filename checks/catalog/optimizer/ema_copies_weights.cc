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
                           .source = "own reasoning: one update of a real average is enough"};
constexpr Setting kDecay{.name = "decay",
                         .value = 0.5,
                         .low = 0,
                         .high = 1,
                         .unit = "decay",
                         .meaning = "declared decay above which copying is an error",
                         .source = "own reasoning: half of the old average cannot round away"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const Averaging& averaging) {
  const auto& updates = averaging.updates;
  const auto count = static_cast<int64_t>(updates.size());
  if (static_cast<double>(count) < settings[kUpdates]) {
    return absl::NotFoundError(StrCat("only ", Counted(count, "update"), " of the average of the ",
                                      settings[kUpdates], " that are needed"));
  }
  Verdict verdict{.findings = {}, .judged = Counted(count, "update") + " of the average"};
  const bool copies = std::all_of(updates.begin(), updates.end(),
                                  [](const auto& update) { return update.distance == 0; });
  const int64_t moves = std::max<int64_t>(
      averaging.moving_steps,
      std::count_if(updates.begin(), updates.end(), [](const auto& u) { return u.moved > 0; }));
  if (!copies || static_cast<double>(moves) < settings[kUpdates]) return verdict;
  std::string message = StrCat("After each of ", Counted(count, "update"),
                               " the averaged weights were exactly the live ones, although ",
                               Counted(moves, "sampled step"), " moved those");
  const bool declared = averaging.decay && *averaging.decay > settings[kDecay];
  if (averaging.decay) StrAppend(&message, " and the declared decay is ", *averaging.decay);
  verdict.findings.push_back({.severity = declared ? Severity::kError : Severity::kWarning,
                              .message = message + ".",
                              .places = {},
                              .first_step = updates.front().step,
                              .last_step = updates.back().step,
                              .count = count,
                              .measured = 0,
                              .bound = 0});
  return verdict;
}

}  // namespace

Check EmaCopiesWeights() {
  return {
      .id = "optimizer/ema_copies_weights",
      .promise = "Averaged weights remember more than the last step.",
      .why =
          "The average is a second copy of the live weights: it costs memory and time and gives "
          "nothing.",
      .method =
          "How far the averaged weights were from the live ones after each update but the first: "
          "exactly nothing, each time, while the weights moved.",
      .fix =
          "Count the updates of the average (n_averaged) and keep the count in checkpoints; look "
          "for a copy where lerp was meant, and for an average that shares the model's tensors.",
      .limits =
          "Needs a program that tells of its averages (Probe::Averaged). Without a declared decay "
          "it is a warning: some averages copy on purpose during a warm-up, which may be as long "
          "as a short run.",
      .sources = {"PyTorch documentation of torch.optim.swa_utils.AveragedModel", "own reasoning"},
      .covers = {"O16", "B14"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kUpdates, kDecay},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"hardly apart", Expect::kClean,
            [] { return Averaged({.distance = 1e-12, .growth = 0, .decay = "0.9"}); }},
           {"never apart", Expect::kFaulty,
            [] { return Averaged({.distance = 0, .growth = 0, .decay = "0.9"}); }},
           {"never apart, with no decay declared", Expect::kFaulty,
            [] { return Averaged({.distance = 0, .growth = 0}); }},
           {"shares the model's tensors", Expect::kFaulty,
            [] { return Averaged({.moved = 0, .distance = 0, .growth = 0, .decay = "0.9"}); }},
           {"weights that never move", Expect::kClean,
            [] { return Averaged({.moved = 0, .distance = 0, .growth = 0, .update = 0}); }}},
  };
}

}  // namespace dlcheck::optimizer
