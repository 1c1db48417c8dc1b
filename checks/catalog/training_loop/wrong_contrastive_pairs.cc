#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kUnlikePairs>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat("The positives that ", statement.name, " takes for ", statement.value,
               " rows are as unlike as any two inputs. In the other usual order, neighbors or "
               "halves, they are alike."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kUnlikePairs, "loss", "cross_entropy", value, aux, times);
}

}  // namespace

Check WrongContrastivePairs() {
  return {
      .id = "training_loop/wrong_contrastive_pairs",
      .title = "The positives are views of different samples",
      .promise = "The positives of a contrastive loss are two views of one sample.",
      .why =
          "The model learns that two random samples are the same. Its loss can fall a "
          "little, and its features are useless.",
      .method =
          "Compares the distances of the inputs of positives with those in the other usual "
          "order: neighbors for halves, or halves for neighbors.",
      .fix =
          "Join the views with torch.cat([a, b]) for positives at i + n, or take the "
          "targets i ^ 1 for views that alternate.",
      .limits = {.needs = "A program whose contrastive loss is cross_entropy over a square of "
                          "similarities, and one forward of both views on the CPU or CUDA.",
                 .silent_when = "",
                 .severity = "Always a warning.",
                 .blind_spots = "Two forwards, one for each view.",
                 .sensitivity = ""},
      .python = {.bad = R"(x = torch.stack([a, b], 1).flatten(0, 1)  # a0, b0, a1, b1, ...
positive = (torch.arange(2 * n) + n) % (2 * n))",
                 .good = R"(x = torch.cat([a, b])  # a0, a1, ..., b0, b1, ...
positive = (torch.arange(2 * n) + n) % (2 * n))"},
      .cpp = {.bad = R"(auto x = torch::stack({a, b}, 1).flatten(0, 1);  // a0, b0, a1, b1, ...
auto positive = (torch::arange(2 * n) + n) % (2 * n);)",
              .good = R"(auto x = torch::cat({a, b});  // a0, a1, ..., b0, b1, ...
auto positive = (torch::arange(2 * n) + n) % (2 * n);)"},
      .sources = {"Chen et al. 2020 (SimCLR): positives are two views of one sample"},
      .covers = {"wrong-contrastive-pairs"},
      .explains = {"training_loop/own_pair_as_negative"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"views of one sample", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"the other order", Expect::kWarning, [] { return With(128, 1); }}},
  };
}

}  // namespace dlcheck::training_loop
