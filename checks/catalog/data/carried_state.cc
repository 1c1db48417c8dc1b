#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::data {
namespace {

constexpr int64_t kOften = 3;  // steps

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kCarriedState>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (statement.count < kOften) continue;
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat(statement.name, " began ", Counted(static_cast<int64_t>(statement.value), "step"),
               " with the state of the samples before, although the samples are shuffled."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kCarriedState, "module", "rnn", value, aux, times);
}

}  // namespace

Check CarriedState() {
  return {
      .id = "data/carried_state",
      .title = "The recurrent state passes to unrelated samples",
      .promise =
          "A recurrent layer begins with the state of another sequence only where that "
          "goes on.",
      .why =
          "In a shuffled batch the next sequence is another one, so its start is a state that "
          "says nothing about it.",
      .method =
          "Compares the first state of a recurrent layer to the last one of an earlier step. Only "
          "where a loader draws the samples at random.",
      .fix =
          "Begin with no state, or read the data in order so that each sequence goes on in the "
          "same row.",
      .limits = {.needs = "A program with a shuffling DataLoader.",
                 .silent_when = "The state passes within one step, or the data are read in order.",
                 .severity = "Always a warning.",
                 .blind_spots = "Layers that the program wrote itself, and samples that it draws "
                                "by itself.",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in DataLoader(data, 32, shuffle=True):
    out, state = rnn(x, state))",
                 .good = R"(for x, y in DataLoader(data, 32, shuffle=True):
    out, _ = rnn(x))"},
      .cpp = {.bad = R"(for (auto& batch : *shuffled_loader) {
  std::tie(out, state) = rnn->forward(batch.data, state);
})",
              .good = R"(for (auto& batch : *shuffled_loader) {
  out = std::get<0>(rnn->forward(batch.data));
})"},
      .sources = {"own reasoning: rows of two shuffled batches do not belong together"},
      .covers = {"hidden-state-carried-over"},
      .explains = {"data/order_dependence"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no state, or data in order", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a state twice", Expect::kClean, [] { return With(2, 0, 2); }},
                   {"a state in each step", Expect::kWarning, [] { return With(15, 0, 16); }}},
  };
}

}  // namespace dlcheck::data
