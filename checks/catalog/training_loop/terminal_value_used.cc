#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kTerminalValues>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kNote,
        StrCat("In all rows, the target is the reward plus ", Short(statement.aux),
               " times the value of the next state. A tensor beside the rewards marks ",
               Counted(static_cast<int64_t>(statement.value), "row"), " as the end of an episode."),
        statement.name));
  }
  return verdict;
}

Evidence With(double rows, int times = 1) {
  return Stating(Quantity::kTerminalValues, "loss", "mse_loss", rows, 0.99, times);
}

}  // namespace

Check TerminalValueUsed() {
  return {
      .id = "training_loop/terminal_value_used",
      .title = "Values of terminal states are bootstrapped",
      .promise = "The target of a transition that ends an episode is its reward alone.",
      .why =
          "After the end there is no reward. The values grow without bound, or the agent does "
          "not learn that an episode ends.",
      .method =
          "Works out which number, times what a network gave without gradients, plus a tensor of "
          "the program, is the target of a loss. Asks whether the rows that a tensor of zeros and "
          "ones marks are like the others.",
      .fix = "Multiply the value of the next state by 1 - terminated.",
      .limits = {.needs = "A Python program with rewards and ends of episodes in tensors, as a "
                          "replay buffer gives them.",
                 .silent_when = "Any row of any step that is looked at has its reward alone.",
                 .severity = "Always a note: the marks may be something else than ends.",
                 .blind_spots = "Returns that are summed along episodes, and targets made by "
                                "hand-written losses.",
                 .sensitivity = ""},
      .python = {.bad = R"(with torch.no_grad():
    value = target_net(next_obs).max(1).values
    target = reward + 0.99 * value
loss = F.mse_loss(chosen, target))",
                 .good = R"(with torch.no_grad():
    value = target_net(next_obs).max(1).values
    target = reward + 0.99 * value * (1 - terminated)
loss = F.mse_loss(chosen, target))"},
      .cpp = {},
      .sources = {"Sutton and Barto 2018: the value of a terminal state is 0"},
      .covers = {"bootstrapped-terminal-states"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"ends that have their reward alone", Expect::kClean, [] { return With(3, 0); }},
                   {"ends like other rows", Expect::kNote, [] { return With(3); }}},
  };
}

}  // namespace dlcheck::training_loop
