#include <cmath>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/ranks_gradient.h"
#include "checks/signals/windows.h"

namespace dlcheck::distributed {
namespace {

constexpr Setting kDistance{
    .name = "distance",
    .value = 0.02,
    .low = 0,
    .high = 1,
    .unit = "of the gradient's norm",
    .meaning = "between the gradient of several processes and that of one, which counts",
    .source = "measured: 3e-7 in float32; half precision leaves up to 0.01"};

bool IsNear(double value, double other, double distance) {
  return std::abs(value / other - 1) <= distance;
}

std::string MessageFor(const RanksGradient& found, double distance) {
  if (found.different > 1) {
    return StrCat("The gradients of the ", found.ranks,
                  " processes are not the same: ", found.different,
                  " different ones are stepped with, each ", "of its own process's batch.");
  }
  const std::string beginning =
      StrCat("The gradient that ", found.ranks, " processes step with is ");
  if (found.rest <= distance) {
    return StrCat(beginning, Short(found.ratio),
                  " times the one that a single process makes of all their batches together.");
  }
  return StrCat(beginning,
                "another one than a single process makes of all their batches together: ",
                Short(100 * found.rest), " % of its norm stands beside it.");
}

// As many times as there are processes, of what begins from a mean or from as many times one; or so
// small a part, where the program divides a mean by that number itself. A sum over the targets,
// even divided by a number, may be meant for one process.
bool IsMultiple(const Windows& windows, const RanksGradient& found, double distance) {
  if (windows.windows.empty()) return false;
  const auto ranks = static_cast<double>(found.ranks);
  const double share = windows.windows.front().Share();
  if (IsNear(found.ratio, ranks, distance)) return share < ranks + 0.5;
  return IsNear(found.ratio, 1 / ranks, distance) && IsNear(share, 1 / ranks, distance);
}

Severity SeverityOf(const RanksGradient& found, bool is_multiple, double distance) {
  const bool is_along = found.rest <= distance;
  return found.different == 1 && is_multiple && is_along ? Severity::kWarning : Severity::kNote;
}

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kOneProcess, RanksGradient>& found,
                              const IfSeen<Windows>& windows) {
  Verdict verdict{.findings = {}, .judged = StrCat(found->ranks, " processes")};
  const double distance = settings[kDistance];
  if (found->different == 1 && found->rest <= distance && IsNear(found->ratio, 1, distance)) {
    return verdict;
  }
  verdict.findings.push_back(
      {.severity = SeverityOf(*found, windows && IsMultiple(*windows, *found, distance), distance),
       .message = MessageFor(*found, distance),
       .places = {},
       .first_step = 0,
       .last_step = 0,
       .count = 1,
       .measured = std::hypot(found->ratio - 1, found->rest),
       .bound = distance});
  return verdict;
}

Evidence Compared(double ratio, double rest) {
  RunBuilder alone;
  alone.Process("ranks", "2").Process("different_gradients", "1");
  alone.Quantity(Quantity::kRanksRatio, "process", "", ratio, rest);
  AddStep(alone, {.held = {}});
  Evidence evidence;
  evidence.Add(kPlain, LossesOnly({2.3, 2.2}, 2));
  evidence.Add(kOneProcess, alone.Build());
  return evidence;
}

}  // namespace

Check MismatchedGradient() {
  return {
      .id = "distributed/mismatched_gradient",
      .promise =
          "Several processes step with the gradient that one would make of all their batches.",
      .why =
          "The size of a step then depends on how many processes there are, or each trains a model "
          "of its own; what was tuned on one machine does not hold on another.",
      .method =
          "The program starts twice more, for one step: in as many processes as before, which "
          "leave their batches, and in one that is given all of these at once. The gradients that "
          "the optimizer uses are compared, from the same weights and without dropout.",
      .fix =
          "DistributedDataParallel divides by the number of processes itself: take a division or a "
          "multiplication of your own away, sum over processes only what is then divided by a "
          "count of all of them, and call the wrapper, not the module in it.",
      .limits =
          "Needs --deep, a launcher with an option that says how many processes there are, a "
          "DataLoader, and weights that are not spread over processes. Not for norms over the "
          "batch of each process. A note unless a mean loss is as many times too long as there are "
          "processes, or divided by their number: sums divided by a size, means over unequal "
          "counts and local steps may be meant.",
      .sources = {"PyTorch: DistributedDataParallel averages gradients",
                  "torchtune #2172: loss scaled by the number of processes"},
      .covers = {"X08"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kDistance},
      .judgement = Reads<&Judge>(),
      .examples = {{"a hundredth beside it", Expect::kClean, [] { return Compared(1.01, 0.01); }},
                   {"twice as long", Expect::kFaulty, [] { return Compared(2, 0); }}},
  };
}

}  // namespace dlcheck::distributed
