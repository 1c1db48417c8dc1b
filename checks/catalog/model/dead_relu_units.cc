#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::model {
namespace {

constexpr double kMostUnits = 0.7;
constexpr int64_t kOften = 3;  // times that they were looked at

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kZeroUnits>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const bool lasts = statement.count >= kOften && 4 * statement.last_step >= stated.steps - 1;
    if (!lasts || statement.value < kMostUnits) continue;
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat(static_cast<int>(100 * statement.value), " % of the ", statement.aux,
               " units of a ReLU gave zero for every row of the batch in step ",
               statement.last_step, ".")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kZeroUnits, "operation", "relu", value, aux, times);
}

}  // namespace

Check DeadReluUnits() {
  return {
      .id = "model/dead_relu_units",
      .title = "Most units of a ReLU give zero for every input",
      .promise = "A ReLU lets something through for most of its units.",
      .why =
          "A unit that is zero for every input has no gradient. The layer keeps its cost and "
          "loses its capacity.",
      .method =
          "Reads the results of ReLUs in the autograd graphs of steps 0, 1, 2, 4, 8 and so "
          "on. Counts the units that are zero for all rows of the batch.",
      .fix =
          "Lower the learning rate, begin with smaller or centered weights and biases, or use "
          "LeakyReLU or GELU.",
      .limits = {.needs =
                     "Batches of at least 32 rows. A C++ program is watched as it is, on the CPU.",
                 .silent_when = "Fewer than 7 of 10 units are zero, or they give values again "
                                "later.",
                 .severity = "Always a warning: rare inputs may need these units.",
                 .blind_spots = "Other activations, compiled functions, and a ReLU whose layer is "
                                "not found in the graph.",
                 .sensitivity = ""},
      .python = {.bad = R"(self.hidden = nn.Linear(64, 256)
nn.init.constant_(self.hidden.bias, -10))",
                 .good = R"(self.hidden = nn.Linear(64, 256)
nn.init.zeros_(self.hidden.bias))"},
      .cpp = {.bad = R"(hidden = register_module("hidden", nn::Linear(64, 256));
nn::init::constant_(hidden->bias, -10);)",
              .good = R"(hidden = register_module("hidden", nn::Linear(64, 256));
nn::init::zeros_(hidden->bias);)"},
      .sources = {"own reasoning: the gradient of a ReLU at a negative input is zero"},
      .covers = {"dead-relu-units"},
      .explains = {"learnability/no_better_than_constant", "gradients/vanishing",
                   "gradients/missing"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kModuleBuilt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"units that give values", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"half of the units", Expect::kClean, [] { return With(0.5, 256, 16); }},
                   {"units that wake up", Expect::kClean, [] { return With(1, 256, 3); }},
                   {"all units give zero", Expect::kWarning, [] { return With(1, 256, 16); }}},
  };
}

}  // namespace dlcheck::model
