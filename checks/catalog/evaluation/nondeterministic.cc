#include <algorithm>
#include <cmath>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/evaluation/evaluation_passes.h"

namespace dlcheck::evaluation {
namespace {

constexpr Setting kDifference{
    .name = "difference",
    .value = 1e-5,
    .low = 0,
    .high = 1,
    .unit = "1",
    .meaning = "largest relative difference of two losses on the same data",
    .source = "own reasoning: fp32 sums in a different order differ by less"};

using Pass = EvaluationPasses::Pass;

// The same data through the same weights of the same model.
bool AreTheSame(const Pass& a, const Pass& b) {
  return a.step == b.step && a.models == b.models && a.samples == b.samples &&
         a.batches == b.batches && a.data && a.data == b.data && a.weights &&
         a.weights == b.weights && std::isfinite(a.loss) && std::isfinite(b.loss);
}

double Difference(const Pass& a, const Pass& b) {
  const double larger = std::max(std::abs(a.loss), std::abs(b.loss));
  return larger == 0 ? 0 : std::abs(a.loss - b.loss) / larger;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const EvaluationPasses& evaluations) {
  int64_t pairs = 0, differing = 0;
  const Pass* worst = nullptr;
  double most = 0;
  const std::vector<Pass>& passes = evaluations.passes;
  for (size_t i = 1; i < passes.size(); ++i) {
    if (!AreTheSame(passes[i - 1], passes[i])) continue;
    ++pairs;
    const double difference = Difference(passes[i - 1], passes[i]);
    if (difference <= settings[kDifference]) continue;
    ++differing;
    if (difference <= most) continue;
    most = difference;
    worst = &passes[i];
  }
  if (pairs == 0) {
    return absl::NotFoundError("no data were evaluated twice between two steps");
  }
  Verdict verdict{.findings = {}, .judged = StrCat(Counted(pairs, "pair"), " of evaluations")};
  if (worst == nullptr) return verdict;
  const bool trains = evaluations.mode_dependent && worst->in_training_mode > 0;
  verdict.findings.push_back({.severity = trains ? Severity::kWarning : Severity::kNote,
                              .message = StrCat("Two evaluations before step ", worst->step,
                                                " of the same weights on the same ", worst->samples,
                                                " samples gave losses ", (worst - 1)->loss, " and ",
                                                worst->loss, trains ? ", in training mode." : "."),
                              .places = {},
                              .first_step = worst->step,
                              .last_step = worst->step,
                              .count = differing,
                              .measured = most,
                              .bound = settings[kDifference]});
  return verdict;
}

// Two evaluations in a row, the second with loss `second`.
Evidence Twice(double second, double training_mode) {
  RunBuilder run = TwoLayers();
  run.Attribute("module", "dropout", "mode_dependent", "1");
  for (int step = 0; step < 4; ++step) AddStep(run, {.held = {}});
  for (const double loss : {2.0, second}) {
    run.Event(Event::kEvaluationBegan, 0, "model", "Net");
    run.Quantity(Quantity::kModelDigest, "model", "Net", 7, 8);
    for (int batch = 0; batch < 2; ++batch) {
      run.Event(Event::kEvaluationForward, training_mode, "model", "Net");
    }
    run.Event(Event::kEvaluationEnded, 0, "model", "Net");
    run.Quantity(Quantity::kEvaluationLoss, "model", "Net", loss, 64);
    run.Quantity(Quantity::kEvaluationFingerprint, "model", "Net", 9, 10);
  }
  return PlainOnly(run);
}

}  // namespace

Check Nondeterministic() {
  return {
      .id = "evaluation/nondeterministic",
      .title = "Two evaluations give different losses",
      .promise = "The same weights on the same data give the same loss twice.",
      .why =
          "The metric is partly random. The best of several evaluations is the luckiest, and two "
          "models cannot be compared.",
      .method =
          "Compares the losses of evaluations between the same two steps that have equal digests "
          "of weights and inputs.",
      .fix =
          "Call model.eval(). Pass training=self.training to F.dropout. Use a mean instead of "
          "random noise.",
      .limits =
          {.needs = "Two evaluations of the same data between the same two steps, with recorded "
                    "digests of the weights.",
           .silent_when =
               "Digests of the weights were not recorded: EMA weights may have been swapped in.",
           .severity = "Warning in training mode with dropout or batch normalization. Otherwise a "
                       "note: models may draw random numbers on purpose, as variational models do.",
           .blind_spots = "",
           .sensitivity = ""},
      .python = {.bad = R"(@torch.no_grad()
def evaluate(model, loader):
    return sum(criterion(model(x), y).item() for x, y in loader))",
                 .good = R"(@torch.no_grad()
def evaluate(model, loader):
    model.eval()  # no dropout, running statistics
    return sum(criterion(model(x), y).item() for x, y in loader))"},
      .cpp = {},
      .sources = {"own reasoning"},
      .covers = {"evaluation-in-train-mode"},
      .explains = {"evaluation/draws_random_numbers"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .settings = {kDifference},
      .judgement = Reads<&Judge>(),
      .examples = {{"losses equal up to rounding", Expect::kClean,
                    [] { return Twice(2.000001, 0); }},
                   {"a different loss", Expect::kNote, [] { return Twice(2.001, 0); }},
                   {"a different loss in training mode", Expect::kWarning,
                    [] { return Twice(2.001, 1); }}},
  };
}

}  // namespace dlcheck::evaluation
