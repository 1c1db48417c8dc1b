#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

constexpr int64_t kFewestTimes = 3;

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kTargetGradient>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (statement.count < kFewestTimes) continue;
    const bool only_target = statement.aux == 1;
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kNote,
                         StrCat(only_target ? "Only the target of " : "The target of ",
                                statement.name, " has a gradient, which reaches ",
                                Counted(Whole(statement.value), "parameter"), ": ",
                                only_target ? "its two arguments may be swapped."
                                            : "the loss also moves the target toward the output."),
                         statement.name));
  }
  return verdict;
}

Evidence With(int times, bool only_target = false) {
  return Stating(Quantity::kTargetGradient, "loss", only_target ? "kl_div" : "mse_loss", 4,
                 only_target, times);
}

}  // namespace

Check TargetWithGradient() {
  return {
      .id = "training_loop/target_with_gradient",
      .title = "Gradients flow through the target of a loss",
      .promise = "The target of a loss is a constant.",
      .why =
          "The loss falls as the target moves toward the output. Bootstrapped values, teachers and "
          "codes then follow their own predictions, and the model may collapse.",
      .method =
          "Looks at the target of each call of a loss function: whether it has a gradient, and how "
          "many parameters its autograd graph reaches.",
      .fix =
          "If the two arguments are swapped, swap them: F.kl_div(student_log_probs, "
          "teacher_probs). Else compute the target under torch.no_grad(), or give "
          "target.detach() to the loss.",
      .limits = {.needs = "A program that calls PyTorch's loss functions.",
                 .silent_when = "The target is a parameter itself. The output has no gradient, and "
                                "the loss is a distance, such as F.mse_loss.",
                 .severity =
                     "Always a note: two networks may learn from each other on purpose, and "
                     "a reverse KL divergence has its gradient in the target.",
                 .blind_spots = "Losses written by hand.",
                 .sensitivity = ""},
      .python = {.bad = R"(target = reward + gamma * critic(next_state).max(1).values
loss = F.mse_loss(critic(state).gather(1, action), target)
loss.backward())",
                 .good = R"(with torch.no_grad():
    target = reward + gamma * critic(next_state).max(1).values
loss = F.mse_loss(critic(state).gather(1, action), target)
loss.backward())"},
      .cpp = {.bad = R"(auto next = std::get<0>(critic(next_state).max(1));
auto loss = F::mse_loss(critic(state).gather(1, action), reward + gamma * next);)",
              .good = R"(auto next = std::get<0>(critic(next_state).max(1)).detach();
auto loss = F::mse_loss(critic(state).gather(1, action), reward + gamma * next);)"},
      .sources = {"Mnih et al. 2015, Human-level control through deep reinforcement learning: the "
                  "target is held fixed"},
      .covers = {"target-with-gradient"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"targets that are constants", Expect::kClean, [] { return With(0); }},
                   {"a target with a gradient once", Expect::kClean, [] { return With(1); }},
                   {"a target with a gradient in each step", Expect::kNote, [] { return With(8); }},
                   {"no gradient but in the target", Expect::kNote, [] { return With(8, true); }}},
  };
}

}  // namespace dlcheck::training_loop
