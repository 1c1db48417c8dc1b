#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kReturnsAcross>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kNote,
                         StrCat("Returns go on with a factor of ", Short(statement.aux),
                                " over all steps. A tensor of the same size marks ",
                                Counted(static_cast<int64_t>(statement.value), "step"),
                                " among them as the end of an episode.")));
  }
  return verdict;
}

Evidence With(double value, int times = 1) {
  return Stating(Quantity::kReturnsAcross, "operation", "returns", value, 0.99, times);
}

}  // namespace

Check ReturnsAcrossEpisodes() {
  return {
      .id = "training_loop/returns_across_episodes",
      .title = "Returns run across episodes",
      .promise = "The return of a step holds only rewards of its own episode.",
      .why = "A step is credited with rewards that come after a reset. Advantages become noise.",
      .method =
          "Works out which factor times the next entry of a tensor, plus a reward or a difference "
          "of values, gives each entry. Asks whether the entries that a tensor of zeros and ones "
          "marks are like the others.",
      .fix = "Multiply the return of the next step by 1 - done.",
      .limits =
          {.needs = "A Python program that learns log-probabilities, with rewards and ends of "
                    "episodes in tensors.",
           .silent_when =
               "Any marked step does not go on, or fewer than two ends lie within the tensor.",
           .severity = "Always a note: the marks may be something else than ends.",
           .blind_spots = "Rewards or returns in lists, and returns without a discount.",
           .sensitivity = ""},
      .python = {.bad = R"(for t in reversed(range(T)):
    delta = reward[t] + 0.99 * value[t + 1] * (1 - done[t]) - value[t]
    running = delta + 0.99 * 0.95 * running
    advantage[t] = running)",
                 .good = R"(for t in reversed(range(T)):
    delta = reward[t] + 0.99 * value[t + 1] * (1 - done[t]) - value[t]
    running = delta + 0.99 * 0.95 * (1 - done[t]) * running
    advantage[t] = running)"},
      .cpp = {},
      .sources = {"Schulman et al. 2016 (generalized advantages): the sum ends with the episode"},
      .covers = {"returns-across-episodes"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"returns that stop at an end", Expect::kClean, [] { return With(12, 0); }},
                   {"returns that run on", Expect::kNote, [] { return With(12); }}},
  };
}

}  // namespace dlcheck::training_loop
