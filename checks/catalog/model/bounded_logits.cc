#include <algorithm>
#include <array>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/loss_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const LossFunctions& losses) {
  constexpr std::array<std::string_view, 3> kBounding = {"sigmoid", "tanh", "relu"};
  Verdict verdict;
  int64_t judged = 0;
  for (const LossFunctions::Function& function : losses.functions) {
    const bool takes_logarithms = function.kind == "nll";
    if (!takes_logarithms && function.kind != "cross_entropy") continue;
    ++judged;
    const std::string& maker = takes_logarithms ? function.logarithm_of : function.input_from;
    if (std::ranges::count(kBounding, maker) == 0) continue;
    const bool is_half = maker == "relu";
    verdict.findings.push_back(
        LossFinding(function, is_half ? Severity::kNote : Severity::kWarning,
                    StrCat(function.name, " received ", takes_logarithms ? "log_softmax of " : "",
                           "the output of ", maker, ": the logits ",
                           is_half ? "are never negative, and a logit of zero has no gradient."
                                   : "are too close together for a confident prediction."),
                    function.losses, 1, 0));
  }
  if (judged == 0) return NoSuchLoss("no cross_entropy and no nll_loss");
  verdict.judged = Counted(judged, "loss function");
  return verdict;
}

Evidence MadeBy(std::string_view maker, bool takes_logarithms = false) {
  RunBuilder run = TwoLayers();
  const std::string_view loss = takes_logarithms ? "nll_loss" : "cross_entropy";
  run.Attribute("loss", loss, "kind", takes_logarithms ? "nll" : loss);
  run.Attribute("loss", loss, "input_from", takes_logarithms ? "log_softmax" : maker);
  if (takes_logarithms) run.Attribute("loss", loss, "logarithm_of", maker);
  for (int step = 0; step < 8; ++step) AddStep(run, {.held = {}});
  return PlainOnly(run);
}

}  // namespace

Check BoundedLogits() {
  return {
      .id = "model/bounded_logits",
      .title = "Sigmoid, tanh or relu before a softmax loss",
      .promise = "The logits of a softmax can have any size.",
      .why =
          "Softmax of logits between 0 and 1 gives nearly equal probabilities. With ten classes, "
          "no probability exceeds 0.24 and the loss stays above 1.4 however well the model fits.",
      .method =
          "Reads from the graph which operation computes the input of cross_entropy, or of a "
          "log_softmax before nll_loss. Reports sigmoid, tanh and relu.",
      .fix = "Remove the last activation of the model: cross_entropy takes unbounded logits.",
      .limits = {.needs = "A cross_entropy, or an nll_loss after log_softmax.",
                 .silent_when = "Any operation except a change of shape comes between activation "
                                "and loss, such as the scaling of soft capping.",
                 .severity = "Warning for sigmoid and tanh. Note for relu.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(def forward(self, x):
    x = F.relu(self.fc1(x))
    return torch.sigmoid(self.fc2(x))

loss = F.cross_entropy(model(x), y))",
                 .good = R"(def forward(self, x):
    x = F.relu(self.fc1(x))
    return self.fc2(x)

loss = F.cross_entropy(model(x), y))"},
      .cpp = {.bad = R"(auto logits = torch::sigmoid(fc2(torch::relu(fc1(x))));
auto loss = F::cross_entropy(logits, y);)",
              .good = R"(auto logits = fc2(torch::relu(fc1(x)));
auto loss = F::cross_entropy(logits, y);)"},
      .sources = {"PyTorch documentation of torch.nn.CrossEntropyLoss", "own reasoning"},
      .covers = {"wrong-loss-input", "restricting-output-activation"},
      .explains = {"learnability/cannot_overfit_one_batch"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"logits without an activation", Expect::kClean, [] { return MadeBy(""); }},
                   {"log_softmax of a tanh", Expect::kWarning, [] { return MadeBy("tanh", true); }},
                   {"logits from relu", Expect::kNote, [] { return MadeBy("relu"); }},
                   {"logits from sigmoid", Expect::kWarning, [] { return MadeBy("sigmoid"); }}},
  };
}

}  // namespace dlcheck::model
