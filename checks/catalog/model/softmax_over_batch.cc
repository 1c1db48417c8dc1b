#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&,
                              const Stated<Quantity::kSoftmaxOverSamples>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const bool compared = statement.aux == 1;
    verdict.findings.push_back(StatementFinding(
        statement, compared ? Severity::kWarning : Severity::kNote,
        StrCat("A softmax runs along the first axis, over the ", statement.value,
               " samples of the batch. Each score depends on the other samples.")));
  }
  return verdict;
}

Evidence With(int times, bool compared = true) {
  return Stating(Quantity::kSoftmaxOverSamples, "operation", "softmax", 64, compared, times);
}

}  // namespace

Check SoftmaxOverBatch() {
  return {
      .id = "model/softmax_over_batch",
      .title = "A softmax runs over the samples of a batch",
      .promise = "A softmax runs over the scores of one sample.",
      .why =
          "The scores of a sample no longer sum to 1. The output for a sample depends on the batch "
          "that it is in.",
      .method =
          "Reads the axis of each softmax and log_softmax from the autograd graphs of the first "
          "three steps of each model. Reports one along the first axis, if it has as many rows as "
          "the batch and "
          "several scores in each. Also reports targets of cross_entropy and kl_div that sum to 1 "
          "over "
          "the batch, and not over the classes.",
      .fix = "Use softmax(dim=-1). Without dim, F.softmax takes the first axis of 3-D tensors.",
      .limits = {.needs = "A Python program with a model of torch.nn, or a C++ program that "
                          "is watched as it is.",
                 .silent_when = "There are as many scores as samples, as in contrastive losses.",
                 .severity =
                     "Warning if the loss is given outputs of as many samples, else a note: "
                     "experts may choose samples.",
                 .blind_spots = "Calls without gradients, compiled functions and vmap.",
                 .sensitivity = ""},
      .python = {.bad = R"(scores = self.head(x)  # (batch, classes)
return F.log_softmax(scores, 0))",
                 .good = R"(scores = self.head(x)  # (batch, classes)
return F.log_softmax(scores, -1))"},
      .cpp = {.bad = R"(auto scores = head->forward(x);  // (batch, classes)
return torch::log_softmax(scores, 0);)",
              .good = R"(auto scores = head->forward(x);  // (batch, classes)
return torch::log_softmax(scores, 1);)"},
      .sources = {"PyTorch documentation of torch.nn.functional.softmax: dim"},
      .covers = {"normalization-over-batch-axis"},
      .explains = {"model/cross_sample_leak", "learnability/no_better_than_constant",
                   "initialization/wrong_initial_loss"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a softmax over the scores", Expect::kClean, [] { return With(0); }},
                   {"one over the samples, beside another loss", Expect::kNote,
                    [] { return With(1, false); }},
                   {"one over the samples that the loss compares", Expect::kWarning,
                    [] { return With(1); }}},
  };
}

}  // namespace dlcheck::model
