#include <cmath>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/distributed/ranks_gradient.h"
#include "checks/signals/loss/windows.h"

namespace dlcheck::distributed {
namespace {

constexpr Setting kDistance{
    .name = "distance",
    .value = 0.02,
    .low = 0,
    .high = 1,
    .unit = "of the gradient's norm",
    .meaning =
        "smallest distance between the multi-rank and the single-process gradient that counts",
    .source = "measured: 3e-7 in float32; half precision leaves up to 0.01"};

bool IsNear(double value, double other, double distance) {
  return std::abs(value / other - 1) <= distance;
}

std::string MessageFor(const RanksGradient& found, double distance) {
  if (found.different > 1) {
    return StrCat(
        "The ", found.ranks, " ranks stepped with ", found.different,
        " different gradients, each from its own batch: nothing synchronized the gradients.");
  }
  const std::string beginning = StrCat("The gradient of ", found.ranks, " ranks was ");
  if (found.rest <= distance) {
    return StrCat(beginning, Short(found.ratio),
                  " times the gradient that one process computed on all their batches.");
  }
  return StrCat(beginning,
                "different from the gradient that one process computed on all their batches: ",
                Short(100 * found.rest), " % of its norm pointed in another direction.");
}

// The gradient is scaled by the number of ranks and the loss is a mean or that many times a mean;
// or it is scaled by one over that number, and the program divides a mean by it. A sum over the
// targets, even divided by a number, may be intended for one process.
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
                              const During<kSingleProcess, RanksGradient>& found,
                              const IfSeen<Windows>& windows) {
  Verdict verdict{.findings = {}, .judged = StrCat(found->ranks, " ranks")};
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
  evidence.Add(kSingleProcess, alone.Build());
  return evidence;
}

}  // namespace

Check MismatchedGradient() {
  return {
      .id = "distributed/mismatched_gradient",
      .title = "The gradient depends on the number of ranks",
      .promise =
          "Several ranks step with the gradient that one process would compute on all their "
          "batches.",
      .why =
          "The step size then depends on the number of ranks, or each rank trains its own model. "
          "Hyperparameters tuned on one machine do not hold on another.",
      .method =
          "Starts the program twice more for one step (multi_process and single_process). The "
          "first run uses as many ranks as before and saves their batches. The second gives all "
          "batches to one process. Compares the optimizer's gradients from the same weights, "
          "without dropout.",
      .fix =
          "DistributedDataParallel already divides by the world size, so remove your own division "
          "or multiplication. Sum over ranks only if you then divide by a global count. Call the "
          "DDP model, not model.module.",
      .limits = {.needs = "--deep, a launcher with an option for the number of processes, a "
                          "DataLoader, and weights that are not sharded.",
                 .silent_when = "Models with norms over the batch of each rank are not judged.",
                 .severity = "Warning if a mean loss is scaled by the world size or by one over "
                             "it. Otherwise note: sums divided by a constant, means over unequal "
                             "counts and local steps may be intentional.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(model = DistributedDataParallel(model)
loss = criterion(model(x), y) / dist.get_world_size()
loss.backward()
optimizer.step())",
                 .good = R"(model = DistributedDataParallel(model)
loss = criterion(model(x), y)
loss.backward()
optimizer.step())"},
      .cpp = {},
      .sources = {"PyTorch: DistributedDataParallel averages gradients",
                  "torchtune #2172: loss scaled by the number of processes"},
      .covers = {"scaled-by-world-size"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kDistance},
      .judgement = Reads<&Judge>(),
      .examples = {{"a difference of 0.01", Expect::kClean, [] { return Compared(1.01, 0.01); }},
                   {"twice as large", Expect::kNote, [] { return Compared(2, 0); }}},
  };
}

}  // namespace dlcheck::distributed
