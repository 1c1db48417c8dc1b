#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/loss_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::model {
namespace {

constexpr Setting kRows{.name = "rows",
                        .value = 64,
                        .low = 1,
                        .high = 1e9,
                        .unit = "rows",
                        .meaning = "fewest rows, all of which are probabilities",
                        .source = "own reasoning: logits are not probabilities by chance"};

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps in which all rows are probabilities",
                         .source = "own reasoning"};

using Function = LossFunctions::Function;

bool TakesLogits(const Function& function) {
  // binary_cross_entropy takes probabilities; the one with logits shares its kind in some probes.
  return function.kind == "cross_entropy" || function.kind == "nll" || function.kind == "kl" ||
         (function.kind == "bce" && function.name != "binary_cross_entropy");
}

// Why the operation that computes the input does not fit the loss function; empty if it fits.
std::string Contradiction(const Function& function) {
  if (function.sigmoid_of == "sigmoid") return "received the sigmoid of the output of sigmoid";
  if (function.kind == "cross_entropy" && function.input_from == "softmax") {
    return "received the output of softmax and applies softmax itself";
  }
  if (function.kind == "bce" && TakesLogits(function) && function.input_from == "sigmoid") {
    return "received the output of sigmoid and applies sigmoid itself";
  }
  const bool takes_logarithms = function.kind == "nll" || function.kind == "kl";
  if (takes_logarithms && function.input_from == "softmax") {
    return "received the output of softmax but takes log-probabilities";
  }
  return function.logarithm_of == "softmax" ? "received log_softmax of the output of softmax" : "";
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

// Probabilities that sum to 1 cannot all be near 1.
bool Compete(const Function& function) {
  return function.kind == "bce" && function.name == "binary_cross_entropy" &&
         function.input_from == "softmax" && !function.several_true.empty();
}

// A function of a later phase may be no loss of its own.
std::span<const Sample> SeenAt(const Function& function) {
  return function.losses.empty() ? function.log_probabilities : function.losses;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossFunctions& losses) {
  int64_t judged = 0;
  Verdict verdict;
  for (const Function& function : losses.functions) {
    if (Compete(function)) {
      ++judged;
      verdict.findings.push_back(
          LossFinding(function, Severity::kWarning,
                      StrCat(function.name,
                             " received the output of softmax, whose rows sum to 1, and targets "
                             "with several of 1 in a row. Use sigmoid, one for each target."),
                      function.losses, 1, 0));
    }
    if (!TakesLogits(function) && function.sigmoid_of.empty()) continue;
    ++judged;
    const std::string contradiction = Contradiction(function);
    if (!contradiction.empty()) {
      verdict.findings.push_back(LossFinding(function, Severity::kError,
                                             StrCat(function.name, " ", contradiction, "."),
                                             SeenAt(function), 1, 0));
    } else if (AllProbabilities(function, settings)) {
      verdict.findings.push_back(
          LossFinding(function, Severity::kError,
                      StrCat(function.name, " takes logits, but in all of ",
                             Counted(StepsOf(function.probabilities), "sampled step"),
                             " every row already held probabilities: none negative, with sum 1."),
                      function.probabilities, 1, 1));
    } else if (function.kind == "cross_entropy" && function.input_from == "log_softmax") {
      verdict.findings.push_back(
          LossFinding(function, Severity::kNote,
                      StrCat(function.name,
                             " received the output of log_softmax: the result is the same, but "
                             "log_softmax is computed twice."),
                      function.losses, 1, 0));
    }
  }
  if (judged == 0) return NoSuchLoss("no loss that takes logits or log-probabilities");
  verdict.judged = Counted(judged, "loss function");
  return verdict;
}

// Eight steps in which `made_by` computed the logits, and `share` of 32 rows are probabilities; or
// in which log_softmax computed them from the output of `logarithm_of`.
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

// Eight steps of binary_cross_entropy, which takes probabilities, with one more attribute.
Evidence OfProbabilities(std::string_view made_by, std::string_view key, std::string_view value) {
  RunBuilder run = TwoLayers();
  run.Attribute("loss", "binary_cross_entropy", "kind", "bce");
  run.Attribute("loss", "binary_cross_entropy", "input_from", made_by);
  run.Attribute("loss", "binary_cross_entropy", key, value);
  for (int step = 0; step < 8; ++step) AddStep(run, {.held = {}});
  return PlainOnly(run);
}

}  // namespace

Check DoubleSoftmax() {
  return {
      .id = "model/double_softmax",
      .title = "Softmax or sigmoid is applied twice",
      .promise = "A loss that takes logits does not receive probabilities.",
      .why =
          "Softmax of a softmax is nearly flat. The loss cannot fall below a floor, and its "
          "gradients are small from the first step.",
      .method =
          "Reads from the graph which operation computes the input of the loss, or of a "
          "log_softmax or sigmoid before the loss. Covers cross_entropy, nll_loss, kl_div and "
          "binary_cross_entropy_with_logits. Also tests whether all rows given to cross_entropy "
          "are probabilities. In C++, also reports a softmax before binary_cross_entropy with "
          "several targets of 1 in a row.",
      .fix =
          "Remove the last softmax or sigmoid of the model in training. For nll_loss and kl_div, "
          "use log_softmax.",
      .limits = {.needs = "A loss that takes logits or log-probabilities. For the test of rows: 64 "
                          "rows in eight sampled steps.",
                 .silent_when = "",
                 .severity = "Error. Note for log_softmax before cross_entropy, which changes "
                             "nothing. Warning for softmax before binary_cross_entropy.",
                 .blind_spots = "Only the rows show the fault if another operation than a change "
                                "of shape comes between softmax and loss. An intentional mean "
                                "probability, nll_loss of softmax, looks the same.",
                 .sensitivity = ""},
      .python = {.bad = R"(logits = model(x)
probabilities = torch.softmax(logits, dim=1)
loss = F.cross_entropy(probabilities, y))",
                 .good = R"(logits = model(x)
loss = F.cross_entropy(logits, y)
probabilities = torch.softmax(logits, dim=1)  # for metrics only)"},
      .cpp = {.bad = R"(auto probabilities = torch::softmax(model->forward(x), 1);
auto loss = F::cross_entropy(probabilities, y);)",
              .good = R"(auto logits = model->forward(x);
auto loss = F::cross_entropy(logits, y);
auto probabilities = torch::softmax(logits, 1);  // for metrics only)"},
      .sources = {"PyTorch documentation of torch.nn.CrossEntropyLoss", "own reasoning"},
      .covers = {"wrong-loss-input", "softmax-before-log-softmax-loss"},
      .explains = {"learnability/cannot_overfit_one_batch", "model/repeated_activation"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLossComputed,
      .also_at = {Event::kModuleBuilt},
      .settings = {kRows, kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"logits", Expect::kClean, [] { return Given("", 0); }},
                   {"a rare row of probabilities", Expect::kClean, [] { return Given("", 0.97); }},
                   {"probabilities in every row", Expect::kError, [] { return Given("", 1); }},
                   {"the output of softmax", Expect::kError, [] { return Given("softmax", 0); }},
                   {"log_softmax of a softmax", Expect::kError,
                    [] { return Given("log_softmax", 0, "softmax"); }},
                   {"output of log_softmax", Expect::kNote, [] { return Given("log_softmax", 0); }},
                   {"labels that compete", Expect::kWarning,
                    [] { return OfProbabilities("softmax", "several_true", "1"); }},
                   {"one sigmoid, of a tanh", Expect::kClean,
                    [] { return OfProbabilities("sigmoid", "sigmoid_of", "tanh"); }},
                   {"sigmoid of a sigmoid", Expect::kError,
                    [] { return OfProbabilities("sigmoid", "sigmoid_of", "sigmoid"); }}},
  };
}

}  // namespace dlcheck::model
