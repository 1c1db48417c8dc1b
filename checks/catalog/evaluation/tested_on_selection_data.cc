#include <set>
#include <utility>
#include <vector>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/evaluation/evaluation_passes.h"

namespace dlcheck::evaluation {
namespace {

using Pass = EvaluationPasses::Pass;

// With fewer evaluations of the same data, other weights were hardly chosen by them.
constexpr size_t kFewest = 3;

bool IsKnown(const Pass& pass) { return pass.data && pass.weights && pass.trained <= 0; }

// The earlier evaluation of the same weights on the same data, with others between; null if there
// is none.
const Pass* ChosenAt(const std::vector<const Pass*>& passes) {
  const Pass& last = *passes.back();
  const Pass* found = nullptr;
  bool others_between = false;
  for (size_t i = passes.size() - 1; i-- > 0;) {
    if (passes[i]->weights != last.weights) {
      others_between = true;
    } else if (others_between && found == nullptr) {
      found = passes[i];
    }
  }
  return found;
}

absl::StatusOr<Verdict> Judge(const Settings&, const EvaluationPasses& evaluations) {
  std::vector<const Pass*> passes;
  std::set<EvaluationPasses::Digest> data;
  for (const Pass& pass : evaluations.passes) {
    if (!IsKnown(pass)) continue;
    passes.push_back(&pass);
    data.insert(*pass.data);
  }
  if (passes.size() < kFewest)
    return absl::NotFoundError("fewer than three evaluations were observed");
  Verdict verdict{.findings = {}, .judged = Counted(passes.size(), "evaluation")};
  if (data.size() > 1) return verdict;
  const Pass* chosen = ChosenAt(passes);
  if (chosen == nullptr || chosen->step >= passes.back()->step) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat("The last evaluation is of the weights from before step ", chosen->step,
                         ", on the same data as the ", passes.size() - 1,
                         " evaluations that these weights were chosen from."),
       .places = {},
       .first_step = passes.back()->step,
       .last_step = passes.back()->step,
       .count = 1,
       .measured = static_cast<double>(passes.size() - 1),
       .bound = 0});
  return verdict;
}

// Evaluations of three states on one data set, and one of the second state again, on `data`.
Evidence LastOn(double data) {
  RunBuilder run = TwoLayers();
  const std::vector<std::pair<double, double>> passes = {{1, 9}, {2, 9}, {3, 9}, {2, data}};
  for (const auto& [weights, inputs] : passes) {
    AddStep(run, {.held = {}});
    run.Event(Event::kEvaluationBegan, 0, "model", "Net");
    run.Quantity(Quantity::kModelDigest, "model", "Net", weights, 8);
    run.Event(Event::kEvaluationForward, 0, "model", "Net");
    run.Event(Event::kEvaluationEnded, 0, "model", "Net");
    run.Quantity(Quantity::kEvaluationFingerprint, "model", "Net", inputs, 10);
  }
  return PlainOnly(run);
}

}  // namespace

Check TestedOnSelectionData() {
  return {
      .id = "evaluation/tested_on_selection_data",
      .title = "The final test uses the data that chose the model",
      .promise = "The final test uses data that took no part in the choice of the weights.",
      .why =
          "The best of many evaluations is partly luck. On new data the model is worse than the "
          "number that is reported.",
      .method =
          "Compares digests of weights and inputs: the last evaluation has the weights of an "
          "earlier one, with evaluations of other weights between them.",
      .fix =
          "Split the data in three. Choose the weights by the validation data, and test once on "
          "the rest.",
      .limits = {.needs = "Three evaluations or more, of which the last one was recorded.",
                 .silent_when = "The program evaluates any other data.",
                 .severity =
                     "Always a note: the number may be meant as that of the validation data.",
                 .blind_spots =
                     "Programs that report the best number instead of another evaluation.",
                 .sensitivity = ""},
      .python = {.bad = R"(for epoch in range(epochs):
    train(model)
    if evaluate(model, test_loader) > best:
        torch.save(model.state_dict(), "best.pt")
model.load_state_dict(torch.load("best.pt"))
print(evaluate(model, test_loader)))",
                 .good = R"(for epoch in range(epochs):
    train(model)
    if evaluate(model, val_loader) > best:
        torch.save(model.state_dict(), "best.pt")
model.load_state_dict(torch.load("best.pt"))
print(evaluate(model, test_loader)))"},
      .cpp = {.bad = R"(for (int epoch = 0; epoch < epochs; ++epoch) {
  TrainOneEpoch(model, *loader, optimizer);
  if (Evaluate(model, *test_loader) > best) torch::save(model, "best.pt");
}
torch::load(model, "best.pt");
std::cout << Evaluate(model, *test_loader);)",
              .good = R"(for (int epoch = 0; epoch < epochs; ++epoch) {
  TrainOneEpoch(model, *loader, optimizer);
  if (Evaluate(model, *val_loader) > best) torch::save(model, "best.pt");
}
torch::load(model, "best.pt");
std::cout << Evaluate(model, *test_loader);)"},
      .sources = {"own reasoning: the maximum of several estimates is biased"},
      .covers = {"selection-on-test-data"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a test on other data", Expect::kClean, [] { return LastOn(11); }},
                   {"a test on the same data", Expect::kNote, [] { return LastOn(9); }}},
  };
}

}  // namespace dlcheck::evaluation
