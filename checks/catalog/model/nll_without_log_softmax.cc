#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/loss_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::model {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "steps in which hardly a row may be a log-probability",
                         .source = "own reasoning: of each, a few rows are by chance"};

constexpr Setting kShare{
    .name = "share",
    .value = 0.5,
    .low = 0,
    .high = 1,
    .unit = "1",
    .meaning =
        "share of log-probabilities among the rows of a step below "
        "which it counts",
    .source = "own reasoning: 1 with log_softmax, a few hundredths with logits"};

using Function = LossFunctions::Function;

// What log_softmax made adds to one along the dimension that it was taken of.
bool AlongAnother(const Function& function) { return function.input_from == "log_softmax"; }

bool IsUnnormalised(const Function& function, const Settings& settings) {
  const auto few = [&](const Sample& sample) { return sample.value < settings[kShare]; };
  // kl_div is no bound of anything without logarithms, whatever is added to it.
  const bool is_alone = function.kind == "kl" || !function.shares.empty();
  const bool may_be = function.normalised_by.empty() && function.input_from != "softmax";
  return (AlongAnother(function) || (may_be && is_alone)) &&
         std::ranges::all_of(function.log_probabilities, few);
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossFunctions& losses) {
  Verdict verdict;
  int64_t judged = 0;
  for (const Function& function : losses.functions) {
    const int64_t steps = StepsOf(function.log_probabilities);
    if (static_cast<double>(steps) < settings[kSteps]) continue;
    ++judged;
    if (!IsUnnormalised(function, settings)) continue;
    verdict.findings.push_back(LossFinding(
        function, Severity::kWarning,
        StrCat(function.name, " takes log-probabilities; in all of ",
               Counted(steps, "sampled step"),
               " it was given scores whose exponentials do not add to one over the classes",
               AlongAnother(function)
                   ? ": log_softmax was taken along another dimension."
                   : ", and nothing before it takes a logarithm: the loss falls for ever as the "
                     "scores grow."),
        function.log_probabilities, function.log_probabilities.front().value, settings[kShare]));
  }
  if (judged == 0) return NoSuchLoss("no loss that takes log-probabilities");
  verdict.judged = Counted(judged, "loss function");
  return verdict;
}

// Steps of nll_loss in which this share of 32 rows are log-probabilities.
Evidence Given(double share, std::string_view made_by, bool alone,
               std::string_view input_from = "") {
  RunBuilder run = TwoLayers();
  run.Attribute("loss", "nll_loss", "kind", "nll");
  if (!made_by.empty()) run.Attribute("loss", "nll_loss", "normalised_by", made_by);
  run.Attribute("loss", "nll_loss", "input_from", input_from);
  for (int step = 0; step < 8; ++step) {
    run.Quantity(Quantity::kLogProbabilityRows, "loss", "nll_loss", share, 32);
    if (alone) run.Quantity(Quantity::kLossShare, "loss", "nll_loss", 1, 32);
    AddStep(run, {.held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check NllWithoutLogSoftmax() {
  return {
      .id = "model/nll_without_log_softmax",
      .promise = "A loss that takes log-probabilities is given log-probabilities.",
      .why =
          "nll_loss only picks the target's score, kl_div adds them by weight. Of scores that "
          "nothing normalises it has no "
          "floor: they grow without end, those of the wrong classes too, and the loss says nothing "
          "of the fit.",
      .method =
          "The rows given to nll_loss and kl_div in training: whether their exponentials add to "
          "one, and "
          "whether the graph close behind them takes a logarithm, where a step starts from that "
          "loss alone.",
      .fix =
          "Use cross_entropy on the scores, or end the model with log_softmax over the "
          "classes.",
      .limits =
          "Not judged where the loss is one term of several, which may hold the normaliser, is "
          "not reduced, or where a function of the program's own stands before it. Scores that are "
          "bounded otherwise, as cosines, may be meant, and are a warning all the same.",
      .sources = {"PyTorch documentation of torch.nn.NLLLoss", "own reasoning"},
      .covers = {"L11"},
      .explains = {"learnability/cannot_overfit_one_batch", "gradients/always_clipped", "gradients/exploding",
                   "numerics/nonfinite_values"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kSteps, kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"half of the rows are", Expect::kClean, [] { return Given(0.5, "", true); }},
                   {"fewer, and nothing takes a logarithm", Expect::kFaulty,
                    [] { return Given(0.46875, "", true); }},
                   {"log_softmax of another dimension", Expect::kFaulty,
                    [] { return Given(0, "LogSoftmaxBackward0", true, "log_softmax"); }},
                   {"scaled by returns after a logarithm", Expect::kClean,
                    [] { return Given(0, "LogSoftmaxBackward0", true); }},
                   {"one term of several", Expect::kClean, [] { return Given(0, "", false); }}},
  };
}

}  // namespace dlcheck::model
