#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::initialization {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kEqualRows>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kError,
        StrCat("All ", statement.value, " rows of ", statement.name,
               " hold the same numbers, before training and after step ", statement.last_step, "."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kEqualRows, "parameter", "trunk.weight", value, aux, times);
}

}  // namespace

Check IdenticalUnits() {
  return {
      .id = "initialization/identical_units",
      .title = "All units of a layer hold the same weights",
      .promise =
          "The units of a layer begin with different weights, or come to differ by "
          "training.",
      .why =
          "Units with equal weights get equal gradients, so they stay equal. A layer of 256 "
          "units then counts for one.",
      .method =
          "Compares the rows of each trained weight when its model is first called. Weights "
          "of equal rows are compared again at steps 4, 16 and 64, if training has changed "
          "them.",
      .fix =
          "Initialize the weight at random, as with nn.init.kaiming_uniform_(), instead of "
          "with a constant.",
      .limits =
          {.needs =
               "A program that makes four steps, and weights on the CPU or CUDA. A C++ program is "
               "watched as it is, on the CPU.",
           .silent_when = "The rows differ after a few steps, as those of a last layer that "
                          "begins with zeros do. Training has not moved the weight.",
           .severity = "",
           .blind_spots = "Groups of units that are equal within one weight, and sharded "
                          "models.",
           .sensitivity = ""},
      .python = {.bad = R"(for layer in model.modules():
    if isinstance(layer, nn.Linear):
        nn.init.constant_(layer.weight, 0.1))",
                 .good = R"(for layer in model.modules():
    if isinstance(layer, nn.Linear):
        nn.init.kaiming_uniform_(layer.weight))"},
      .cpp = {.bad = "for (auto& layer : layers) nn::init::constant_(layer->weight, 0.1);",
              .good = "for (auto& layer : layers) nn::init::kaiming_uniform_(layer->weight);"},
      .sources = {"own reasoning: equal units of a layer have equal gradients"},
      .covers = {"constant-initialization"},
      .explains = {"learnability/no_better_than_constant", "initialization/wrong_initial_loss"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kModuleBuilt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"rows that differ", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"rows that stay equal", Expect::kError, [] { return With(64, 0); }}},
  };
}

}  // namespace dlcheck::initialization
