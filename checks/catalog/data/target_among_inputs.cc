#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::data {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kTargetAmongInputs>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const std::string where =
        statement.value < 0
            ? "The last input of the model holds the targets themselves: all "
            : StrCat("From entry ", statement.value, " on, each input holds its target: all ");
    verdict.findings.push_back(StatementFinding(
        statement, statement.value < 0 ? Severity::kNote : Severity::kWarning,
        StrCat(where, statement.aux, " compared targets of ", statement.name, " are equal to it."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kTargetAmongInputs, "loss", "mse_loss", value, aux, times);
}

}  // namespace

Check TargetAmongInputs() {
  return {
      .id = "data/target_among_inputs",
      .title = "The model is given its targets",
      .promise = "No entry of an input is the target that the model has to predict.",
      .why =
          "The model copies that entry. The loss is near zero, and the model fails where "
          "the target is not known.",
      .method =
          "Compares each entry of the inputs with the targets, in the first three steps with 64 "
          "targets. A decoder takes the last of several inputs of tokens: that one is compared "
          "as a whole.",
      .fix =
          "Take the target out of the inputs. Move the window so that it ends before the "
          "target, or give the decoder the tokens before it.",
      .limits = {.needs =
                     "A program, inputs and targets on the CPU or CUDA, and for each sample one "
                     "target, a window of targets or tokens.",
                 .silent_when = "All targets are equal.",
                 .severity = "Warning. Note for tokens: a decoder may have to learn to copy.",
                 .blind_spots =
                     "Entries that are scaled, values computed from the target, and a window "
                     "of more than half of the input.",
                 .sensitivity = ""},
      .python = {.bad = R"(window = series[i : i + 24]
target = series[i + 23]  # the last value of the window)",
                 .good = R"(window = series[i : i + 24]
target = series[i + 24])"},
      .cpp = {.bad = R"(auto window = series.slice(0, i, i + 24);
auto target = series[i + 23];  // the last value of the window)",
              .good = R"(auto window = series.slice(0, i, i + 24);
auto target = series[i + 24];)"},
      .sources = {"own reasoning: an exact comparison"},
      .covers = {"targets-in-inputs"},
      .explains = {"data/shifted_targets", "data/target_leakage"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .also_at = {Event::kFetched},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no entry", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"the last of 24 entries", Expect::kWarning, [] { return With(23, 192); }},
                   {"the tokens of a decoder", Expect::kNote, [] { return With(-1, 1536); }}},
  };
}

}  // namespace dlcheck::data
