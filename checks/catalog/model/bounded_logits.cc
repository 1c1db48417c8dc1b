#include <algorithm>
#include <array>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/loss_finding.h"
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
    verdict.findings.push_back(LossFinding(
        function, is_half ? Severity::kNote : Severity::kWarning,
        StrCat(function.name, " was given ", takes_logarithms ? "log_softmax of " : "", "what ",
               maker, " made: its scores ",
               is_half ? "are never negative, and where they are zero they learn nothing."
                       : "stay so close together that no class can be made certain."),
        function.losses, 1, 0));
  }
  if (judged == 0) return NoSuchLoss("no cross-entropy and no nll_loss");
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
      .promise = "The scores that a softmax is taken of can be of any size.",
      .why =
          "Of scores between 0 and 1, softmax makes probabilities that are nearly equal: with ten "
          "classes none comes over 0.24, and the loss stays above 1.4 however well the model fits.",
      .method =
          "The operation that made the input of cross_entropy, or of a log_softmax before "
          "nll_loss, "
          "as the graph tells: sigmoid and tanh are warnings, relu is a note.",
      .fix = "Leave out the last activation of the model: softmax takes plain scores.",
      .limits =
          "Between the activation and the loss nothing may stand but a change of shape: scores "
          "that "
          "are scaled after it, as in soft capping, are left alone.",
      .sources = {"PyTorch documentation of torch.nn.CrossEntropyLoss", "own reasoning"},
      .covers = {"L11"},
      .explains = {"learnability/cannot_overfit_one_batch"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"made by nothing of the kind", Expect::kClean, [] { return MadeBy(""); }},
                   {"their logarithms taken of a tanh", Expect::kFaulty,
                    [] { return MadeBy("tanh", true); }},
                   {"made by relu", Expect::kFaulty, [] { return MadeBy("relu"); }},
                   {"made by sigmoid", Expect::kFaulty, [] { return MadeBy("sigmoid"); }}},
  };
}

}  // namespace dlcheck::model
