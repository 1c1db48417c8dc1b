#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kBiasBeforeNorm>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kNote,
        "The bias of a layer has no effect: batch normalization subtracts it again."));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kBiasBeforeNorm, "operation", "bias", value, aux, times);
}

}  // namespace

Check BiasBeforeNorm() {
  return {
      .id = "model/bias_before_norm",
      .title = "Batch normalization removes the bias before it",
      .promise = "No layer has a bias that the next layer removes.",
      .why =
          "Batch normalization subtracts the mean, and the bias with it. The bias never gets a "
          "gradient and only costs memory.",
      .method =
          "Reads the autograd graphs of the first three steps of each model. Looks for a layer "
          "with a "
          "bias directly before batch normalization.",
      .fix = "Build the layer with bias=False.",
      .limits = {.needs = "A Python program whose modules are not compiled, or a C++ program that "
                          "is watched as it is.",
                 .silent_when = "Something else lies between the two layers.",
                 .severity = "Always a note: the bias does no harm.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(self.conv = nn.Conv2d(3, 64, 3)
self.norm = nn.BatchNorm2d(64))",
                 .good = R"(self.conv = nn.Conv2d(3, 64, 3, bias=False)
self.norm = nn.BatchNorm2d(64))"},
      .cpp =
          {.bad = R"(conv = register_module("conv", nn::Conv2d(nn::Conv2dOptions(3, 64, 3)));
norm = register_module("norm", nn::BatchNorm2d(64));)",
           .good =
               R"(conv = register_module("conv", nn::Conv2d(nn::Conv2dOptions(3, 64, 3).bias(false)));
norm = register_module("norm", nn::BatchNorm2d(64));)"},
      .sources = {"PyTorch performance tuning guide: disable bias for convolutions directly "
                  "followed by a batch norm"},
      .covers = {"wrong-normalization-setup"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kModuleBuilt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"layers without a bias", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a bias before the norm", Expect::kNote, [] { return With(1, 0); }}},
  };
}

}  // namespace dlcheck::model
