#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::schedule {
namespace {

// Of rank correlations: of any metric, and of a share, which saturates and then goes up and down.
constexpr double kClear = 0.8, kShare = 0.5;

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kPlateauOrder>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const bool rises =
        statement.name == "min" && statement.value >= (statement.aux == 0 ? kClear : kShare);
    if (!rises && !(statement.name == "max" && statement.value <= -kClear)) continue;
    const bool may_be_loss = rises && statement.aux == 0;
    verdict.findings.push_back(StatementFinding(
        statement, may_be_loss ? Severity::kNote : Severity::kWarning,
        StrCat("ReduceLROnPlateau has mode \"", statement.name, "\", and its metric ",
               rises ? "rises" : "falls", " from the first call to the last.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kPlateauOrder, "scheduler", "min", value, aux, times);
}

}  // namespace

Check PlateauInWrongMode() {
  return {
      .id = "schedule/plateau_in_wrong_mode",
      .title = "ReduceLROnPlateau has the wrong mode",
      .promise =
          "The metric of ReduceLROnPlateau moves in the direction that its mode takes for "
          "better.",
      .why =
          "With mode=\"min\" and an accuracy, or mode=\"max\" and a loss, no better value counts "
          "as better. The learning rate falls while training still improves.",
      .method = "Compares the metrics given to the scheduler with their order in time.",
      .fix = "Use mode=\"max\" for an accuracy and mode=\"min\" for a loss.",
      .limits = {.needs = "A program that gives the scheduler four metrics.",
                 .silent_when = "The metrics rise and fall.",
                 .severity = "A warning for a share that rises in mode \"min\", and for a metric "
                             "that falls in mode \"max\". A note for another one that rises.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(scheduler = ReduceLROnPlateau(optimizer)
scheduler.step(accuracy))",
                 .good = R"(scheduler = ReduceLROnPlateau(optimizer, mode="max")
scheduler.step(accuracy))"},
      .cpp = {.bad = R"(torch::optim::ReduceLROnPlateauScheduler scheduler(optimizer);
scheduler.step(accuracy);)",
              .good = R"(using Plateau = torch::optim::ReduceLROnPlateauScheduler;
Plateau scheduler(optimizer, Plateau::max);
scheduler.step(accuracy);)"},
      .sources = {"PyTorch documentation of ReduceLROnPlateau: mode"},
      .covers = {"wrong-plateau-metric"},
      .explains = {"schedule/lr_is_zero"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"metrics that get better", Expect::kClean,
                    [] { return Stating(Quantity::kPlateauOrder, "scheduler", "max", 0.9, 1); }},
                   {"metrics that go up and down", Expect::kClean, [] { return With(0.3, 1); }},
                   {"a loss that rises", Expect::kNote, [] { return With(0.95, 0); }},
                   {"an accuracy in mode min", Expect::kWarning, [] { return With(0.95, 1); }},
                   {"a loss in mode max", Expect::kWarning,
                    [] { return Stating(Quantity::kPlateauOrder, "scheduler", "max", -1, 0); }}},
  };
}

}  // namespace dlcheck::schedule
