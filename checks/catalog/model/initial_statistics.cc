#include <algorithm>

#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::model {
namespace {

constexpr int64_t kOften = 3, kRecorded = 64;  // steps

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kInitialStatistics>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const bool of_a_copy = statement.value == 3;
    const bool lasts = statement.count >= kOften &&
                       4 * statement.last_step >= std::min(stated.steps, kRecorded) - 1;
    if (!of_a_copy && !lasts) continue;
    if (of_a_copy) {
      verdict.findings.push_back(StatementFinding(
          statement, Severity::kWarning,
          StrCat(
              statement.name, ", a copy of a model that trains, is evaluated with the mean 0 and ",
              "variance 1 that its ",
              Counted(static_cast<int64_t>(statement.aux), "batch normalization"), " began with."),
          statement.name));
      continue;
    }
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat(statement.name,
               statement.value == 1 ? " is in evaluation mode while its model trains, and"
                                    : " has momentum 0 and",
               " still has the mean 0 and variance 1 that it was made with."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kInitialStatistics, "module", "norm", value, aux, times);
}

}  // namespace

Check InitialStatistics() {
  return {
      .id = "model/initial_statistics",
      .title = "Batch normalization keeps its initial statistics",
      .promise = "The running statistics of batch normalization follow the data.",
      .why =
          "A layer that was built with mean 0 and variance 1 and keeps them does not "
          "normalize, in training or in evaluation.",
      .method =
          "Looks at batch normalization layers while their model trains: in evaluation mode "
          "or with momentum 0, and with the statistics that they were made with. Looks at "
          "networks that are evaluated and have the class of a model that trains, too.",
      .fix =
          "Leave the layer in training mode, or load the statistics of a trained model before "
          "model.eval(). An average of weights needs the buffers of the model, too: copy_ them in "
          "each update.",
      .limits = {.needs = "A Python program, or a C++ program that is watched as it is, with an "
                          "optimizer step.",
                 .silent_when = "The statistics were loaded or changed, as those of a frozen "
                                "backbone.",
                 .severity = "Always a warning: the layer may be meant as a scale and a shift.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for layer in model.modules():
    if isinstance(layer, nn.BatchNorm2d):
        layer.eval())",
                 .good = R"(model.train())"},
      .cpp = {.bad = R"(for (auto& module : model->modules()) {
  if (auto* norm = module->as<nn::BatchNorm2d>()) norm->eval();
})",
              .good = "model->train();"},
      .sources = {"PyTorch documentation of torch.nn.BatchNorm2d: running_mean and running_var "
                  "begin with 0 and 1"},
      .covers = {"batch-norm-stuck-in-eval"},
      .explains = {"evaluation/in_train_mode"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kModuleBuilt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"statistics that follow", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"statistics of the first steps", Expect::kClean, [] { return With(1, 0, 2); }},
                   {"evaluation mode", Expect::kWarning, [] { return With(1, 0, 16); }},
                   {"momentum 0", Expect::kWarning, [] { return With(2, 0, 16); }},
                   {"a copy without the buffers", Expect::kWarning, [] { return With(3, 2, 1); }}},
  };
}

}  // namespace dlcheck::model
