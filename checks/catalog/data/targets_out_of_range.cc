#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/loss_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::data {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "steps that are looked at, all together",
                         .source = "own reasoning"};

constexpr Setting kShare{.name = "share",
                         .value = 0.05,
                         .low = 0,
                         .high = 1,
                         .unit = "1",
                         .meaning = "share of the targets that may lie out of reach",
                         .source = "own reasoning: noise pushes a few over the edge"};

using Function = LossFunctions::Function;

// Of all targets that were looked at.
double ShareOf(const Function& function) {
  double outside = 0, all = 0;
  for (const Sample& sample : function.unreachable) {
    outside += sample.value * sample.aux;
    all += sample.aux;
  }
  return all > 0 ? outside / all : 0;
}

std::string Seen(const Function& function) {
  return function.targets.empty() ? "" : StrCat("; those of a batch go from ", function.targets);
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
            ? "outside of 0 to 1, between which the loss takes them"
            : StrCat("where ", function.input_from, ", which makes the outputs, never comes");
    verdict.findings.push_back(LossFinding(
        function, Severity::kWarning,
        StrCat("Of the targets of ", function.name, " in ", Counted(steps, "sampled step"), ", ",
               Short(100 * share), " % lie ", where, Seen(function), "."),
        function.unreachable, share, settings[kShare]));
  }
  if (judged == 0) return NoSuchLoss("no loss whose targets have known bounds");
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
      .promise = "Targets lie where the outputs can come, and where the loss takes them.",
      .why =
          "Outputs that end in sigmoid, tanh or relu never come to targets beyond, so that the "
          "model "
          "sticks at the edge; and binary cross-entropy of labels other than 0 and 1 has no floor.",
      .method =
          "The operation that made the outputs, as the graph tells, gives their range; of a mean "
          "squared, absolute, smooth or Huber error, the share of targets outside of it. Of "
          "binary_cross_entropy_with_logits, the share of labels outside of 0 to 1.",
      .fix =
          "Scale the targets into the range: labels of -1 and 1, or of 1 and 2, become 0 and 1. Or "
          "leave out the last activation, where the outputs have one.",
      .limits =
          "Between the activation and the loss nothing may stand but a change of shape. Labels "
          "smoothed to between -0.3 and 1.3 are left alone. A relu that is to clip a noisy target "
          "looks the same.",
      .sources = {"PyTorch documentation of torch.nn.BCEWithLogitsLoss", "own reasoning"},
      .covers = {"L01"},
      .explains = {"learnability/cannot_overfit_one_batch", "gradients/always_clipped"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kSteps, kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"a few, as noise has it", Expect::kClean, [] { return Outside(0.04); }},
                   {"more", Expect::kFaulty, [] { return Outside(0.0625); }}},
  };
}

}  // namespace dlcheck::data
