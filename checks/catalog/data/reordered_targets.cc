#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::data {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kReorderedTargets>& stated) {
  if (stated.all.empty()) {
    return absl::NotFoundError(
        "neither a loader's batch nor a larger tensor of the program had the rows of the batches");
  }
  Verdict verdict;
  double judged = 0;
  for (const Statement& statement : stated.all) {
    judged += statement.aux;
    if (statement.value == 0) continue;
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat(statement.name, " compared ", WithCommas(Whole(statement.value)),
                                " of ", WithCommas(Whole(statement.aux)),
                                " outputs with the target of another sample or position: the "
                                "targets of each batch were "
                                "the right ones in another order than the inputs."),
                         statement.name));
  }
  verdict.judged = Counted(Whole(judged), "target");
  return verdict;
}

Evidence With(double wrong, int times = 1) {
  return Stating(Quantity::kReorderedTargets, "loss", "cross_entropy", wrong, 256, times);
}

}  // namespace

Check ReorderedTargets() {
  return {
      .id = "data/reordered_targets",
      .title = "The targets of a batch are in another order",
      .promise = "The targets of a batch have the same order as its inputs.",
      .why =
          "The model receives the labels of other samples. The model learns only how often each "
          "label occurs.",
      .method =
          "Looks up the rows of inputs and targets of eight steps, in a loader's batch or in two "
          "equally long tensors. Reports targets that are the right ones in all steps, but in "
          "another order in four or more. At least half as many are misplaced as a random order "
          "misplaces. So many targets of each kind must be improbable by chance. With texts, it "
          "compares the targets of six steps with the tokens that follow.",
      .fix =
          "Index inputs and targets with the same indices. Shuffle them together, and reorder "
          "neither of them afterwards.",
      .limits = {.needs = "A program that calls PyTorch's loss functions on the CPU or CUDA, with "
                          "eight sampled steps.",
                 .silent_when = "Another loss of the step takes the targets in the right order, as "
                                "with mixup.",
                 .severity = "Always a warning: wrong pairs may be meant, as in a control.",
                 .blind_spots = "Batches whose inputs were changed after they were drawn, and rows "
                                "that the data have twice. Batches of few "
                                "samples with two classes.",
                 .sensitivity = ""},
      .python = {.bad = R"(i = torch.randperm(len(x))[:64]
loss = F.cross_entropy(model(x[i]), y[i.sort().values]))",
                 .good = R"(i = torch.randperm(len(x))[:64]
loss = F.cross_entropy(model(x[i]), y[i]))"},
      .cpp = {},
      .sources = {"own reasoning: the same targets in another order belong to other samples"},
      .covers = {"mispaired-targets"},
      .explains = {"learnability/no_better_than_constant", "data/contradicting_targets",
                   "data/inconsistent_targets"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"targets in the order of the inputs", Expect::kClean, [] { return With(0); }},
                   {"targets in another order", Expect::kWarning, [] { return With(230); }}},
  };
}

}  // namespace dlcheck::data
