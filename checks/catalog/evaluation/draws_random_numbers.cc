#include <algorithm>

#include "checks/catalog/examples/evaluation_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/evaluation/evaluations.h"

namespace dlcheck::evaluation {
namespace {

// Forwards without gradients, all in training mode, may also produce training data: a policy that
// acts draws random numbers on purpose.
bool IsForTraining(const Evaluations::Evaluation& evaluation) {
  return !evaluation.declared && evaluation.in_training_mode == evaluation.batches;
}

absl::StatusOr<Verdict> Judge(const Settings&, const Evaluations& evaluations) {
  int64_t compared = 0;
  std::vector<int64_t> drew;  // steps before which an evaluation drew
  for (const Evaluations::Evaluation& evaluation : evaluations.evaluations) {
    if (!evaluation.compared) continue;
    ++compared;
    const bool drew_some = evaluation.random_changed && !evaluation.is_last;
    if (drew_some && !IsForTraining(evaluation)) drew.push_back(evaluation.step);
  }
  if (compared == 0) {
    return absl::NotFoundError("the state before and after an evaluation was not recorded");
  }
  Verdict verdict{.findings = {}, .judged = Counted(compared, "evaluation")};
  if (drew.empty()) return verdict;
  const auto count = static_cast<int64_t>(drew.size());
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat(count, " of ", Counted(compared, "evaluation"),
                         " drew from the default generator, first before step ", drew.front(),
                         ". Training then goes on with other random numbers."),
       .places = {},
       .first_step = drew.front(),
       .last_step = drew.back(),
       .count = count,
       .measured = static_cast<double>(count),
       .bound = 0});
  return verdict;
}

}  // namespace

Check DrawsRandomNumbers() {
  return {
      .id = "evaluation/draws_random_numbers",
      .title = "Evaluation draws the random numbers of training",
      .promise = "An evaluation leaves the state of the default random generator unchanged.",
      .why =
          "The order of the data and the dropout masks then depend on how often the model is "
          "evaluated. Two runs with one seed differ as soon as one evaluates more often.",
      .method =
          "Compares digests of the state of the default generator before and after each "
          "evaluation.",
      .fix =
          "Give the evaluation a torch.Generator of its own, or run it inside "
          "torch.random.fork_rng(). A DataLoader draws a seed in each pass: give the one of the "
          "evaluation its own generator.",
      .limits = {.needs = "Evaluations whose random state is recorded before and after.",
                 .silent_when = "All batches of an undeclared evaluation are in training mode, as "
                                "for a policy that acts.",
                 .severity = "Always a note: most programs never compare such runs.",
                 .blind_spots = "Generators of Python and numpy.",
                 .sensitivity = ""},
      .python = {.bad = R"(with torch.no_grad():
    noise = torch.randn(16, latent)  # from the default generator
    show(generator(noise)))",
                 .good = R"(own = torch.Generator().manual_seed(0)
with torch.no_grad():
    noise = torch.randn(16, latent, generator=own)
    show(generator(noise)))"},
      .cpp = {.bad = R"(torch::NoGradGuard no_grad;
auto noise = torch::randn({16, latent});  // from the default generator
Show(generator->forward(noise));)",
              .good = R"(auto own = at::make_generator<at::CPUGeneratorImpl>(0);
torch::NoGradGuard no_grad;
auto noise = torch::randn({16, latent}, own);
Show(generator->forward(noise));)"},
      .sources = {"PyTorch documentation: reproducibility; torch.random.fork_rng"},
      .covers = {"random-numbers-used-by-logging"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"nothing is drawn", Expect::kClean, [] { return ThreeEvaluations({}); }},
                   {"an evaluation draws random numbers", Expect::kNote,
                    [] { return ThreeEvaluations({.random_drawn = true}); }},
                   {"a policy draws random numbers in training mode", Expect::kClean,
                    [] {
                      return ThreeEvaluations({.random_drawn = true,
                                               .in_training_mode = 3,
                                               .declared = false,
                                               .steps_between = 8,
                                               .has_dropout = false});
                    }}},
  };
}

}  // namespace dlcheck::evaluation
