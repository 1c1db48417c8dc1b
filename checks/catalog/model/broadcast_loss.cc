#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/loss_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::model {
namespace {

using Shape = std::vector<double>;

Shape ShapeOf(const std::string& text) {
  Shape shape;
  for (const absl::string_view size : absl::StrSplit(text, 'x', absl::SkipEmpty())) {
    double number = 0;
    if (absl::SimpleAtod(size, &number)) shape.push_back(number);
  }
  return shape;
}

double Elements(const Shape& shape) {
  double product = 1;
  for (const double size : shape) product *= size;
  return product;
}

// The shape that both broadcast to, aligned at the last dimension.
Shape Broadcast(Shape a, Shape b) {
  if (a.size() < b.size()) std::swap(a, b);
  for (size_t i = 0; i < b.size(); ++i) {
    double& size = a[a.size() - 1 - i];
    size = std::max(size, b[b.size() - 1 - i]);
  }
  return a;
}

// Both shapes grow, one of them by a dimension that the program did not write. A dimension that the
// program wrote, as for all pairs of quantiles, is intentional.
bool ComparesAllWithAll(const std::string& shapes) {
  const std::vector<std::string> pair = absl::StrSplit(shapes, " and ");
  if (pair.size() != 2) return false;
  const Shape a = ShapeOf(pair[0]), b = ShapeOf(pair[1]);
  return a.size() != b.size() && Elements(Broadcast(a, b)) > std::max(Elements(a), Elements(b));
}

absl::StatusOr<Verdict> Judge(const Settings&, const LossFunctions& losses) {
  int64_t judged = 0;
  Verdict verdict;
  for (const LossFunctions::Function& function : losses.functions) {
    if (function.kind.empty() && function.broadcast.empty()) continue;
    ++judged;
    if (!ComparesAllWithAll(function.broadcast)) continue;
    const bool by_hand = function.kind.empty() || function.reduction == "none";
    const std::string name = function.kind.empty() ? "A hand-written loss" : function.name;
    verdict.findings.push_back(
        LossFinding(function, by_hand ? Severity::kWarning : Severity::kError,
                    StrCat(name, " received shapes ", function.broadcast, " and broadcast them: ",
                           by_hand ? "each sample is compared with all samples."
                                   : "every output is compared with every target."),
                    function.losses, 1, 0));
  }
  if (judged == 0) return NoSuchLoss("no known loss function");
  verdict.judged = Counted(judged, "loss function");
  return verdict;
}

Evidence Shapes(std::string_view shapes, std::string_view kind = "mse") {
  RunBuilder run = TwoLayers();
  run.Attribute("loss", "cross_entropy", "kind", kind);
  run.Attribute("loss", "cross_entropy", "reduction", "mean");
  run.Attribute("loss", "cross_entropy", "broadcast", shapes);
  for (int step = 0; step < 4; ++step) AddStep(run, {.held = {}});
  return PlainOnly(run);
}

}  // namespace

Check BroadcastLoss() {
  return {
      .id = "model/broadcast_loss",
      .title = "The loss broadcasts outputs against all targets",
      .promise = "A loss compares each output with its own target.",
      .why =
          "Outputs of shape 64x1 and targets of shape 64 broadcast to 64x64. Every output is "
          "pulled to the mean of all targets, and the model learns to ignore its input.",
      .method =
          "Compares the shapes of both inputs of a loss function. Reports shapes with different "
          "numbers of dimensions that broadcast to more elements than either has.",
      .fix = "Give both inputs the same shape: output.squeeze(1), or target.unsqueeze(1).",
      .limits = {.needs = "A known loss function, or a hand-written loss of two tensors.",
                 .silent_when = "Both shapes have equally many dimensions, as for all pairs of "
                                "quantiles. One target serves all outputs.",
                 .severity = "Error. Warning with reduction='none' and in hand-written losses: all "
                             "pairs may be intentional, as in an energy distance.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(output = model(x)  # 64x1
target = y         # 64
loss = F.mse_loss(output, target))",
                 .good = R"(output = model(x).squeeze(1)  # 64
target = y                    # 64
loss = F.mse_loss(output, target))"},
      .cpp = {.bad = R"(auto output = model->forward(x);  // 64x1
auto loss = F::mse_loss(output, y);  // y: 64)",
              .good = R"(auto output = model->forward(x).squeeze(1);  // 64
auto loss = F::mse_loss(output, y);  // y: 64)"},
      .sources = {"PyTorch documentation: broadcasting semantics", "own reasoning"},
      .covers = {"broadcast-loss"},
      .explains = {"learnability/input_independence", "learnability/cannot_overfit_one_batch"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"equal shapes", Expect::kClean, [] { return Shapes(""); }},
                   {"a batch of one", Expect::kClean, [] { return Shapes("1x1 and 1"); }},
                   {"one target for all", Expect::kClean, [] { return Shapes("64x1 and 1"); }},
                   {"all pairs of quantiles", Expect::kClean,
                    [] { return Shapes("32x51x1 and 32x1x51"); }},
                   {"a column and a row", Expect::kError, [] { return Shapes("64x1 and 64"); }},
                   {"a column and a row in a hand-written loss", Expect::kWarning,
                    [] { return Shapes("64x1 and 64", ""); }},
                   {"a batch of two", Expect::kError, [] { return Shapes("2 and 2x1"); }}},
  };
}

}  // namespace dlcheck::model
