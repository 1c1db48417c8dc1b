#include <algorithm>

#include "checks/catalog/examples/average_runs.h"
#include "checks/catalog/findings/average_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizer/averaging.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kUpdates{.name = "updates",
                           .value = 8,
                           .low = 2,
                           .high = 1e6,
                           .unit = "updates",
                           .meaning = "fewest updates of the EMA after the first",
                           .source = "own reasoning: a real EMA differs after one update"};
constexpr Setting kDecay{
    .name = "decay",
    .value = 0.5,
    .low = 0,
    .high = 1,
    .unit = "decay",
    .meaning = "declared decay above which copying is an error",
    .source = "own reasoning: rounding cannot hide half of the old EMA weights"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const Averaging& averaging) {
  const auto& updates = averaging.updates;
  const auto count = static_cast<int64_t>(updates.size());
  DLCHECK_RETURN_IF_ERROR(HasUpdates(averaging, settings[kUpdates]));
  Verdict verdict{.findings = {}, .judged = Counted(count, "update") + " of the EMA weights"};
  const bool copies = std::all_of(updates.begin(), updates.end(),
                                  [](const auto& update) { return update.distance == 0; });
  const int64_t moves = std::max<int64_t>(
      averaging.moving_steps,
      std::count_if(updates.begin(), updates.end(), [](const auto& u) { return u.moved > 0; }));
  if (!copies || static_cast<double>(moves) < settings[kUpdates]) return verdict;
  std::string message = StrCat("After each of ", Counted(count, "update"),
                               " the EMA weights exactly equaled the live weights, although ",
                               Counted(moves, "sampled step"), " changed the live weights");
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
      .title = "EMA weights are a copy of the model weights",
      .promise = "EMA weights differ from the live weights while the live weights change.",
      .why =
          "The EMA is only a second copy of the live weights. It costs memory and time and gives "
          "no benefit.",
      .method =
          "Compares the EMA weights with the live weights after each EMA update except the first. "
          "They are exactly equal every time, while the live weights change.",
      .fix =
          "Count the updates of the EMA (n_averaged) and save the count in checkpoints. Look for "
          "copy_() in place of lerp_(), and for an EMA that shares the model's tensors.",
      .limits =
          {.needs = "A program that reports its EMA updates (Probe::EmaUpdated).",
           .silent_when = "",
           .severity =
               "Error if a decay above the limit is declared. Otherwise warning, because some EMAs "
               "copy on purpose during a warm-up, which may be as long as a short run.",
           .blind_spots = "",
           .sensitivity = ""},
      .python = {.bad = R"(for ema_p, p in zip(ema.parameters(), model.parameters()):
    with torch.no_grad():
        ema_p.copy_(p))",
                 .good = R"(for ema_p, p in zip(ema.parameters(), model.parameters()):
    with torch.no_grad():
        ema_p.lerp_(p, 1 - decay))"},
      .cpp = {},
      .sources = {"PyTorch documentation of torch.optim.swa_utils.AveragedModel", "own reasoning"},
      .covers = {"wrong-ema-weights", "cpp-shared-module-holder"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kAverageBuilt,
      .settings = {kUpdates, kDecay},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"a tiny distance", Expect::kClean,
            [] { return Averaged({.distance = 1e-12, .growth = 0, .decay = "0.9"}); }},
           {"always equal", Expect::kError,
            [] { return Averaged({.distance = 0, .growth = 0, .decay = "0.9"}); }},
           {"always equal, with no declared decay", Expect::kWarning,
            [] { return Averaged({.distance = 0, .growth = 0}); }},
           {"EMA weights that share the model's tensors", Expect::kError,
            [] { return Averaged({.moved = 0, .distance = 0, .growth = 0, .decay = "0.9"}); }},
           {"live weights that never change", Expect::kClean,
            [] { return Averaged({.moved = 0, .distance = 0, .growth = 0, .update = 0}); }}},
  };
}

}  // namespace dlcheck::optimizer
