#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/loss_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::model {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 2,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps with few rows of log-probabilities",
                         .source = "own reasoning: most log-probabilities sum to one, in any step"};

constexpr Setting kShare{
    .name = "share",
    .value = 0.5,
    .low = 0,
    .high = 1,
    .unit = "1",
    .meaning = "share of rows with log-probabilities in a step, below which the step counts",
    .source = "own reasoning: 1 with log_softmax, a few hundredths with logits"};

using Function = LossFunctions::Function;

// The output of log_softmax is normalized along the dimension that log_softmax ran over.
bool AlongAnother(const Function& function) { return function.input_from == "log_softmax"; }

bool IsUnnormalized(const Function& function, const Settings& settings) {
  const auto few = [&](const Sample& sample) { return sample.value < settings[kShare]; };
  // kl_div without logarithms bounds nothing, whatever is added to it.
  const bool is_alone = function.kind == "kl" || !function.shares.empty();
  const bool may_be = function.normalized_by.empty() && function.input_from != "softmax";
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
    if (!IsUnnormalized(function, settings)) continue;
    verdict.findings.push_back(LossFinding(
        function, Severity::kWarning,
        StrCat(function.name, " takes log-probabilities, but in all of ",
               Counted(steps, "sampled step"),
               " the exponentials of its inputs did not sum to one over the classes",
               AlongAnother(function) ? ": log_softmax ran along another dimension."
                                      : ". No logarithm comes before the loss, so the loss falls "
                                        "without limit as the scores grow."),
        function.log_probabilities, function.log_probabilities.front().value, settings[kShare]));
  }
  if (judged == 0) return NoSuchLoss("no loss that takes log-probabilities");
  verdict.judged = Counted(judged, "loss function");
  return verdict;
}

// Steps of nll_loss in which `share` of 32 rows are log-probabilities.
Evidence Given(double share, std::string_view made_by, bool alone,
               std::string_view input_from = "") {
  RunBuilder run = TwoLayers();
  run.Attribute("loss", "nll_loss", "kind", "nll");
  if (!made_by.empty()) run.Attribute("loss", "nll_loss", "normalized_by", made_by);
  run.Attribute("loss", "nll_loss", "input_from", input_from);
  for (int step = 0; step < 2; ++step) {
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
      .title = "nll_loss receives raw scores",
      .promise = "A loss that takes log-probabilities receives log-probabilities.",
      .why =
          "nll_loss only picks the target's score, and kl_div adds scores by weight. With "
          "unnormalized scores, the loss has no floor and falls as all scores grow, also those of "
          "wrong classes. The loss says nothing about the fit.",
      .method =
          "Tests whether the exponentials of each row given to nll_loss or kl_div in training sum "
          "to one. Also tests whether the nearby graph takes a logarithm, if a step's backward "
          "starts from this loss alone.",
      .fix = "Use cross_entropy on the logits, or end the model with log_softmax over the classes.",
      .limits = {.needs = "nll_loss or kl_div in two sampled steps.",
                 .silent_when =
                     "The loss is one term of several, which may include the normalizer. The loss "
                     "is not reduced. A custom function of the program comes before the loss.",
                 .severity = "Always a warning, also for scores that are bounded otherwise on "
                             "purpose, such as cosines.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
scores = model(x)
loss = F.nll_loss(scores, y))",
                 .good = R"(model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
scores = model(x)
loss = F.nll_loss(F.log_softmax(scores, dim=1), y))"},
      .cpp = {.bad = R"(auto scores = model->forward(x);
auto loss = F::nll_loss(scores, y);)",
              .good = R"(auto scores = model->forward(x);
auto loss = F::nll_loss(torch::log_softmax(scores, 1), y);)"},
      .sources = {"PyTorch documentation of torch.nn.NLLLoss", "own reasoning"},
      .covers = {"wrong-loss-input", "nll-without-log-softmax"},
      .explains = {"learnability/cannot_overfit_one_batch", "gradients/always_clipped",
                   "gradients/exploding", "numerics/nonfinite_values"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kSteps, kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"log-probabilities in half of the rows", Expect::kClean,
                    [] { return Given(0.5, "", true); }},
                   {"log-probabilities in fewer rows, and no logarithm", Expect::kWarning,
                    [] { return Given(0.46875, "", true); }},
                   {"log_softmax along another dimension", Expect::kWarning,
                    [] { return Given(0, "LogSoftmaxBackward0", true, "log_softmax"); }},
                   {"log-probabilities scaled by returns", Expect::kClean,
                    [] { return Given(0, "LogSoftmaxBackward0", true); }},
                   {"one term of several", Expect::kClean, [] { return Given(0, "", false); }}},
  };
}

}  // namespace dlcheck::model
