#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kPaddingRead>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kNote,
        StrCat("The last output or state of ", statement.name, " is read after up to ",
               statement.value, " positions of padding, in ", statement.aux, " rows of a batch."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kPaddingRead, "layer", "rnn", value, aux, times);
}

}  // namespace

Check StateAfterPadding() {
  return {
      .id = "model/state_after_padding",
      .title = "The last state comes after padding",
      .promise = "The state that stands for a sequence is that at its last real position.",
      .why =
          "The layer goes on over the padding and forgets. The output for a text then depends on "
          "the longest text of its batch.",
      .method =
          "Finds rows that padding fills up, which is one token or zeros. Reads from the "
          "autograd graph whether the last output or the state of a recurrent layer is "
          "used.",
      .fix =
          "Pass the lengths: pack_padded_sequence(x, lengths, batch_first=True, "
          "enforce_sorted=False). Or take out[torch.arange(len(out)), lengths - 1].",
      .limits = {.needs = "A program with torch.nn.RNN, GRU or LSTM on the CPU or CUDA, and "
                          "rows of three "
                          "lengths in a batch.",
                 .silent_when = "",
                 .severity = "Always a note: a model can learn to keep its state over padding.",
                 .blind_spots = "Padding at the beginning, and layers that are written by hand.",
                 .sensitivity = ""},
      .python = {.bad = R"(out, _ = self.rnn(self.embed(tokens))  # padded with 0
return self.head(out[:, -1]))",
                 .good = R"(x = pack_padded_sequence(self.embed(tokens), lengths, batch_first=True,
                         enforce_sorted=False)
_, state = self.rnn(x)
return self.head(state[-1]))"},
      .cpp =
          {.bad = R"(auto out = std::get<0>(rnn->forward(embed(tokens)));  // padded with 0
return head(out.select(1, -1));)",
           .good =
               R"(auto packed = nn::utils::rnn::pack_padded_sequence(embed(tokens), lengths, true, false);
auto state = std::get<1>(rnn->forward_with_packed_input(packed));
return head(state[-1]);)"},
      .sources = {"PyTorch documentation of torch.nn.utils.rnn.pack_padded_sequence"},
      .covers = {"state-after-padding"},
      .explains = {"attention/unmasked_padding"},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"nothing is read there", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"21 positions of padding", Expect::kNote, [] { return With(21, 30); }}},
  };
}

}  // namespace dlcheck::model
