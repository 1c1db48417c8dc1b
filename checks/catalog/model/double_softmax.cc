#include "checks/catalog/example_runs.h"
#include "checks/catalog/loss_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::model {
namespace {

constexpr Setting kRows{.name = "rows",
                        .value = 64,
                        .low = 1,
                        .high = 1e9,
                        .unit = "rows",
                        .meaning = "rows in all that have to be probabilities",
                        .source = "own reasoning: none negative and a sum of one is no chance"};

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "steps in which all rows have to be probabilities",
                         .source = "own reasoning"};

using Function = LossFunctions::Function;

bool TakesLogits(const Function& function) {
  // binary_cross_entropy takes probabilities; the one with logits shares its kind in some probes.
  return function.kind == "cross_entropy" || function.kind == "nll" || function.kind == "kl" ||
         (function.kind == "bce" && function.name != "binary_cross_entropy");
}

// What made its input is what the function itself applies, or must not be applied before it.
std::string Contradiction(const Function& function) {
  if (function.kind == "cross_entropy" && function.input_from == "softmax") {
    return "was given what softmax made, and applies softmax itself";
  }
  if (function.kind == "bce" && function.input_from == "sigmoid") {
    return "was given what sigmoid made, and applies sigmoid itself";
  }
  const bool takes_logarithms = function.kind == "nll" || function.kind == "kl";
  if (takes_logarithms && function.input_from == "softmax") {
    return "was given what softmax made, and takes log-probabilities";
  }
  if (function.logarithm_of == "softmax") return "was given log_softmax of what softmax made";
  return "";
}

bool AllProbabilities(const Function& function, const Settings& settings) {
  double rows = 0;
  for (const Sample& sample : function.probabilities) {
    if (sample.value < 1) return false;
    rows += sample.aux;
  }
  return function.kind == "cross_entropy" && rows >= settings[kRows] &&
         static_cast<double>(StepsOf(function.probabilities)) >= settings[kSteps];
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossFunctions& losses) {
  int64_t judged = 0;
  Verdict verdict;
  for (const Function& function : losses.functions) {
    if (!TakesLogits(function)) continue;
    ++judged;
    const std::string contradiction = Contradiction(function);
    if (!contradiction.empty()) {
      verdict.findings.push_back(LossFinding(function, Severity::kError,
                                             StrCat(function.name, " ", contradiction, "."),
                                             function.losses, 1, 0));
    } else if (AllProbabilities(function, settings)) {
      verdict.findings.push_back(LossFinding(
          function, Severity::kError,
          StrCat(function.name, " takes logits; in all of ",
                 Counted(StepsOf(function.probabilities), "sampled step"),
                 " every row it was given was a probability already, none negative and the sum 1."),
          function.probabilities, 1, 1));
    } else if (function.kind == "cross_entropy" && function.input_from == "log_softmax") {
      verdict.findings.push_back(LossFinding(
          function, Severity::kNote,
          StrCat(function.name,
                 " was given what log_softmax made: the result is the same, and log_softmax is "
                 "worked out twice."),
          function.losses, 1, 0));
    }
  }
  if (judged == 0) return NoSuchLoss("no loss that takes logits or log-probabilities");
  verdict.judged = Counted(judged, "loss function");
  return verdict;
}

// Eight steps in which `made_by` made the logits, and this share of 32 rows are probabilities; or
// in which log_softmax made them, of what `logarithm_of` made.
Evidence Given(std::string_view made_by, double share, std::string_view logarithm_of = "") {
  RunBuilder run = TwoLayers();
  run.Attribute("loss", "cross_entropy", "kind", "cross_entropy");
  run.Attribute("loss", "cross_entropy", "input_from", made_by);
  run.Attribute("loss", "cross_entropy", "logarithm_of", logarithm_of);
  for (int step = 0; step < 8; ++step) {
    run.Quantity(Quantity::kProbabilityRows, "loss", "cross_entropy", share, 32);
    AddStep(run, {.held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check DoubleSoftmax() {
  return {
      .id = "model/double_softmax",
      .promise = "A loss that takes logits is not given probabilities.",
      .why =
          "Softmax of a softmax is nearly flat: the loss cannot fall below a floor, and its "
          "gradients are small from the first step on.",
      .method =
          "The operation that made the input of cross_entropy, nll_loss, kl_div and "
          "binary_cross_entropy_with_logits, or of a log_softmax before them, as the graph tells; "
          "else whether all rows given to cross_entropy are probabilities.",
      .fix =
          "Leave out the last softmax or sigmoid of the model in training; for nll_loss and "
          "kl_div use log_softmax.",
      .limits =
          "Between the softmax and the loss nothing may stand but a change of shape, else only "
          "the rows tell. log_softmax before cross_entropy changes nothing and is a note. The "
          "mean probability as a loss on purpose, as nll_loss of softmax, looks the same.",
      .sources = {"PyTorch documentation of torch.nn.CrossEntropyLoss", "own reasoning"},
      .covers = {"L11"},
      .explains = {"learnability/cannot_overfit_one_batch"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kRows, kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"logits", Expect::kClean, [] { return Given("", 0); }},
                   {"a rare row that looks like probabilities", Expect::kClean,
                    [] { return Given("", 31.0 / 32); }},
                   {"every row a probability", Expect::kFaulty, [] { return Given("", 1); }},
                   {"made by softmax", Expect::kFaulty, [] { return Given("softmax", 0); }},
                   {"made by log_softmax of a softmax", Expect::kFaulty,
                    [] { return Given("log_softmax", 0, "softmax"); }},
                   {"made by log_softmax", Expect::kFaulty,
                    [] { return Given("log_softmax", 0); }}},
  };
}

}  // namespace dlcheck::model
