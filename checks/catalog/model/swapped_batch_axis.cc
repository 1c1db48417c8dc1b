#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::model {
namespace {

constexpr int64_t kFewestSteps = 3;

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kSwappedBatchAxis>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (statement.count < kFewestSteps) continue;
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat(statement.name, " takes the ", statement.value,
                                " samples of the batch for time and ", "the other axis, of size ",
                                statement.aux, ", for the batch."),
                         statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kSwappedBatchAxis, "module", "lstm", value, aux, times);
}

}  // namespace

Check SwappedBatchAxis() {
  return {
      .id = "model/swapped_batch_axis",
      .title = "A layer takes the batch axis for time",
      .promise = "Recurrent and attention layers take the axis of the samples for the batch.",
      .why =
          "With the axes swapped, the layer runs over the samples of the batch as if they were "
          "one sequence. Samples mix, and the order in time is lost.",
      .method =
          "Compares the sizes of the input of nn.RNN, LSTM, GRU and MultiheadAttention with "
          "the number of samples of the loss.",
      .fix = "Build the layer with batch_first=True, or move the axes: layer(x.transpose(0, 1)).",
      .limits = {.needs = "A Python program, and cross_entropy or nll_loss with one target for "
                          "each sample. Or a C++ program that is watched as it is, and a loss "
                          "function with one target for each sample.",
                 .silent_when = "Batch and time have one size, or the batch of the layer has size "
                                "1.",
                 .severity = "Always a warning: attention over samples may be meant.",
                 .blind_spots =
                     "Losses with a target for each position, and packed sequences. In C++, "
                     "also attention layers.",
                 .sensitivity = ""},
      .python = {.bad = R"(self.lstm = nn.LSTM(64, 128)
out, _ = self.lstm(x)  # (batch, time, 64)
return self.head(out[:, -1]))",
                 .good = R"(self.lstm = nn.LSTM(64, 128, batch_first=True)
out, _ = self.lstm(x)  # (batch, time, 64)
return self.head(out[:, -1]))"},
      .cpp =
          {.bad = R"(lstm = register_module("lstm", nn::LSTM(nn::LSTMOptions(64, 128)));
auto states = std::get<0>(lstm(x));  // x: (batch, time, 64)
return head(states.select(1, -1));)",
           .good =
               R"(lstm = register_module("lstm", nn::LSTM(nn::LSTMOptions(64, 128).batch_first(true)));
auto states = std::get<0>(lstm(x));  // x: (batch, time, 64)
return head(states.select(1, -1));)"},
      .sources = {"PyTorch documentation of torch.nn.LSTM: batch_first"},
      .covers = {"normalization-over-batch-axis"},
      .explains = {"model/cross_sample_leak", "learnability/no_better_than_constant",
                   "attention/causal_mask_leak", "attention/unmasked_padding"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kModuleBuilt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"axes in their places", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a single batch of that size", Expect::kClean, [] { return With(9, 20); }},
                   {"axes swapped in each step", Expect::kWarning, [] { return With(20, 9, 8); }}},
  };
}

}  // namespace dlcheck::model
