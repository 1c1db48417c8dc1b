#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::model {
namespace {

constexpr int64_t kFewestSteps = 3;
constexpr int64_t kAllRecorded = 64;  // steps at the start of a run
constexpr double kPair = 2;

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kNormalizedValues>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (statement.count < kFewestSteps) continue;
    if (4 * statement.count < std::min(stated.steps, kAllRecorded)) continue;
    verdict.findings.push_back(
        StatementFinding(statement, statement.value <= kPair ? Severity::kWarning : Severity::kNote,
                         StrCat(statement.name, " normalizes over ", statement.value,
                                " values of each channel in step ", statement.last_step, "."),
                         statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kNormalizedValues, "module", "norm", value, aux, times);
}

}  // namespace

Check BatchNormTinyBatch() {
  return {
      .id = "model/batch_norm_tiny_batch",
      .title = "Batch normalization over very few values",
      .promise = "Batch normalization takes its statistics from many values of each channel.",
      .why =
          "With two values, the result is plus or minus one whatever the input was. Statistics "
          "of few values are noise.",
      .method = "Counts the values of each channel in batch normalization layers in training mode.",
      .fix = "Use larger batches, GroupNorm or LayerNorm, or SyncBatchNorm over several ranks.",
      .limits = {.needs = "A Python program, or a C++ program that is watched as it is, with an "
                          "optimizer step.",
                 .silent_when = "Fewer than a quarter of the recorded steps have so few values, "
                                "as the last batch of an epoch.",
                 .severity = "A warning for two values or fewer, a note for up to eight.",
                 .blind_spots = "SyncBatchNorm, and layers in evaluation mode.",
                 .sensitivity = ""},
      .python = {.bad = R"(loader = DataLoader(data, batch_size=2)
model = nn.Sequential(nn.Linear(64, 32), nn.BatchNorm1d(32)))",
                 .good = R"(loader = DataLoader(data, batch_size=2)
model = nn.Sequential(nn.Linear(64, 32), nn.LayerNorm(32)))"},
      .cpp =
          {.bad =
               R"(auto loader = torch::data::make_data_loader(dataset, torch::data::DataLoaderOptions(2));
nn::Sequential model(nn::Linear(64, 32), nn::BatchNorm1d(32));)",
           .good =
               R"(auto loader = torch::data::make_data_loader(dataset, torch::data::DataLoaderOptions(2));
nn::Sequential model(nn::Linear(64, 32), nn::LayerNorm(nn::LayerNormOptions({32})));)"},
      .sources = {"Ioffe and Szegedy 2015: statistics of a mini-batch stand for those of the data"},
      .covers = {"batch-norm-on-tiny-batches"},
      .explains = {"evaluation/in_train_mode"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kModuleBuilt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"large batches", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a small last batch", Expect::kClean, [] { return With(2, 0, 2); }},
                   {"six values", Expect::kNote, [] { return With(6, 0, 16); }},
                   {"two values", Expect::kWarning, [] { return With(2, 0, 16); }}},
  };
}

}  // namespace dlcheck::model
