#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::model {
namespace {

constexpr double kMostUnits = 0.7;
constexpr int64_t kOften = 3;  // times that they were looked at

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kSaturatedUnits>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const bool lasts = statement.count >= kOften && 4 * statement.last_step >= stated.steps - 1;
    if (!lasts || statement.first_step > 1 || statement.value < kMostUnits) continue;
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat(static_cast<int>(100 * statement.value), " % of the ", statement.aux, " units of a ",
               statement.name, " were at a limit for every row of the batch in step ",
               statement.last_step, ".")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kSaturatedUnits, "operation", "tanh", value, aux, times);
}

}  // namespace

Check SaturatedUnits() {
  return {
      .id = "model/saturated_units",
      .title = "Most units of a tanh or sigmoid are saturated",
      .promise = "Most units of a tanh or sigmoid are between their limits for some input.",
      .why = "At a limit the slope is zero, so the layers before it get no gradient.",
      .method =
          "Reads the results of tanh and sigmoid in the autograd graphs of steps 0, 1, 2, "
          "4, 8 and so on. Counts the units that are within half a percent of a limit for "
          "all rows.",
      .fix =
          "Begin with smaller weights, normalize the inputs, or put a normalization before the "
          "activation.",
      .limits = {.needs =
                     "Batches of at least 32 rows. A C++ program is watched as it is, on the CPU.",
                 .silent_when = "Fewer than 7 of 10 units are saturated, or they were not from "
                                "the start on.",
                 .severity = "Always a warning: codes of two values may be meant.",
                 .blind_spots = "Recurrent layers, compiled functions, and layers of fewer than "
                                "eight units.",
                 .sensitivity = ""},
      .python = {.bad = R"(nn.init.normal_(self.hidden.weight, std=10)
h = torch.tanh(self.hidden(x)))",
                 .good = R"(nn.init.xavier_normal_(self.hidden.weight)
h = torch.tanh(self.hidden(x)))"},
      .cpp = {.bad = R"(nn::init::normal_(hidden->weight, 0, 10);
auto h = torch::tanh(hidden(x));)",
              .good = R"(nn::init::xavier_normal_(hidden->weight);
auto h = torch::tanh(hidden(x));)"},
      .sources = {"own reasoning: the slope of tanh is 1 - y^2, at y = 0.99 one fiftieth"},
      .covers = {"saturated-activations"},
      .explains = {"learnability/no_better_than_constant", "gradients/vanishing"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kModuleBuilt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"units between their limits", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"half of the units", Expect::kClean, [] { return With(0.5, 64, 16); }},
                   {"units that leave the limits", Expect::kClean, [] { return With(1, 64, 3); }},
                   {"all units saturated", Expect::kWarning, [] { return With(1, 64, 16); }}},
  };
}

}  // namespace dlcheck::model
