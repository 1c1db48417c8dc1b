#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::optimizer {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kAliasedAverage>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat(statement.value,
               " tensors that an average is kept in share the memory of the weights: each update "
               "makes the weights smaller and averages nothing.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kAliasedAverage, "average", "average", value, aux, times);
}

}  // namespace

Check EmaIsTheWeights() {
  return {
      .id = "optimizer/ema_is_the_weights",
      .title = "An average of the weights is the weights",
      .promise = "An average of the weights has memory of its own.",
      .why =
          "The update then writes to the weights themselves. They shrink a little in each "
          "step, and the evaluated average is the last state.",
      .method =
          "Looks twice in a run for tensors that share the memory of weights. Reports those "
          "that are written to between a step and the next forward, where all weights "
          "shrink by one factor.",
      .fix = "Copy the weights: shadow[name] = p.detach().clone(), or copy.deepcopy(model).",
      .limits = {.needs = "A program with weights on the CPU or CUDA.",
                 .silent_when = "The update is one call of lerp_(), which changes nothing then.",
                 .severity = "Always a warning.",
                 .blind_spots = "Averages that begin after 64 steps.",
                 .sensitivity = ""},
      .python = {.bad = R"(shadow = {n: p.data for n, p in model.named_parameters()}
for n, p in model.named_parameters():
    shadow[n].mul_(0.99).add_(p.data, alpha=0.01))",
                 .good = R"(shadow = {n: p.detach().clone() for n, p in model.named_parameters()}
for n, p in model.named_parameters():
    shadow[n].mul_(0.99).add_(p.data, alpha=0.01))"},
      .cpp = {.bad = R"(std::vector<torch::Tensor> average;
for (auto& p : model->parameters()) average.push_back(p.detach());)",
              .good = R"(std::vector<torch::Tensor> average;
for (auto& p : model->parameters()) average.push_back(p.detach().clone());)"},
      .sources = {"PyTorch documentation of torch.Tensor.data: it shares the memory"},
      .covers = {"wrong-ema-weights"},
      .explains = {"optimizer/wrong_update"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"an average of its own", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"four tensors of the weights", Expect::kWarning, [] { return With(4, 4); }}},
  };
}

}  // namespace dlcheck::optimizer
