#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/loss_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::data {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest sampled steps with such a loss",
                         .source = "own reasoning"};

constexpr Setting kShare{.name = "share",
                         .value = 0.05,
                         .low = 0,
                         .high = 1,
                         .unit = "1",
                         .meaning = "share of the targets that may lie out of range",
                         .source = "own reasoning: noise pushes a few targets out of range"};

using Function = LossFunctions::Function;

// Over all checked targets.
double ShareOf(const Function& function) {
  double outside = 0, all = 0;
  for (const Sample& sample : function.unreachable) {
    outside += sample.value * sample.aux;
    all += sample.aux;
  }
  return all > 0 ? outside / all : 0;
}

std::string Seen(const Function& function) {
  return function.targets.empty() ? "" : StrCat("; one batch has targets from ", function.targets);
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossFunctions& losses) {
  Verdict verdict;
  int64_t judged = 0;
  for (const Function& function : losses.functions) {
    const int64_t steps = StepsOf(function.unreachable);
    if (static_cast<double>(steps) < settings[kSteps]) continue;
    ++judged;
    const double share = ShareOf(function);
    if (share <= settings[kShare]) continue;
    const std::string where =
        function.kind == "bce"
            ? "outside the range 0 to 1 of this loss"
            : StrCat("outside the range of ", function.input_from, ", which computes the outputs");
    verdict.findings.push_back(
        LossFinding(function, Severity::kWarning,
                    StrCat(Short(100 * share), " % of the targets of ", function.name, " in ",
                           Counted(steps, "sampled step"), " lie ", where, Seen(function), "."),
                    function.unreachable, share, settings[kShare]));
  }
  if (judged == 0) return NoSuchLoss("no loss with a known target range");
  verdict.judged = Counted(judged, "loss function");
  return verdict;
}

Evidence Outside(double share) {
  RunBuilder run = TwoLayers();
  run.Attribute("loss", "mse_loss", "kind", "mse")
      .Attribute("loss", "mse_loss", "input_from", "tanh")
      .Attribute("loss", "mse_loss", "targets", "-2.5 to 3");
  for (int step = 0; step < 8; ++step) {
    run.Quantity(Quantity::kUnreachableTargets, "loss", "mse_loss", share, 32);
    AddStep(run, {.held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check TargetsOutOfRange() {
  return {
      .id = "data/targets_out_of_range",
      .title = "Targets lie outside the range of the outputs",
      .promise = "Targets lie in the range of the outputs and of the loss.",
      .why =
          "Outputs of sigmoid, tanh or relu never reach targets outside their range, so the model "
          "sticks at the edge. Binary cross-entropy has no lower bound for labels outside 0 to 1.",
      .method =
          "Reads the range of the outputs from the last activation in the graph. Compares the "
          "targets of a squared, absolute, smooth L1 or Huber loss with this range. For "
          "binary_cross_entropy_with_logits, compares the labels with 0 to 1.",
      .fix =
          "Scale the targets into the range: map labels -1 and 1, or 1 and 2, to 0 and 1. Or "
          "remove the last activation.",
      .limits = {.needs = "A regression loss on outputs that end in sigmoid, tanh or relu, or "
                          "binary_cross_entropy_with_logits, in eight sampled steps.",
                 .silent_when = "Any operation except a change of shape comes between activation "
                                "and loss. Labels are smoothed to between -0.3 and 1.3.",
                 .severity = "Always a warning.",
                 .blind_spots = "A relu that clips noisy targets on purpose looks the same.",
                 .sensitivity = ""},
      .python = {.bad = R"(criterion = nn.BCEWithLogitsLoss()
target = label.float()  # labels are 1 and 2
loss = criterion(model(x).squeeze(1), target))",
                 .good = R"(criterion = nn.BCEWithLogitsLoss()
target = label.float() - 1  # labels are 0 and 1
loss = criterion(model(x).squeeze(1), target))"},
      .cpp = {},
      .sources = {"PyTorch documentation of torch.nn.BCEWithLogitsLoss", "own reasoning"},
      .covers = {"unsuitable-loss"},
      .explains = {"learnability/cannot_overfit_one_batch", "gradients/always_clipped"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kSteps, kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"a few, as with noise", Expect::kClean, [] { return Outside(0.04); }},
                   {"more", Expect::kWarning, [] { return Outside(0.0625); }}},
  };
}

}  // namespace dlcheck::data
