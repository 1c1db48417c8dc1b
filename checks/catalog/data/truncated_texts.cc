#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::data {
namespace {

constexpr double kShare = 0.01;  // of the rows that may be cut off without a word

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kCutRows>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (statement.value < kShare * statement.aux) continue;
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kNote,
        StrCat(statement.value, " of ", statement.aux,
               " rows of tokens are full and lack the token that ends each shorter row."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kCutRows, "loss", "cross_entropy", value, aux, times);
}

}  // namespace

Check TruncatedTexts() {
  return {
      .id = "data/truncated_texts",
      .title = "Long texts are cut off",
      .promise = "Each text is given to the model with its end.",
      .why =
          "The end of a long text is lost. The model never learns to end a text of "
          "that length.",
      .method =
          "Compares the last tokens of rows with padding and of rows without. Reports full rows "
          "that lack the token that ends all shorter ones.",
      .fix =
          "Raise max_length, split long texts into several rows, or leave them out and say how "
          "many they are.",
      .limits = {.needs = "A program with tokens on the CPU or CUDA that nn.Embedding looks up. "
                          "One token ends each row before its padding.",
                 .silent_when = "Fewer than one row of a hundred is cut off.",
                 .severity = "Always a note: a window of a text may be meant.",
                 .blind_spots = "Texts without an end token.",
                 .sensitivity = ""},
      .python = {.bad = R"(ids = [text[:512] for text in texts]  # the end token is lost
tokens = pad_sequence(ids, batch_first=True))",
                 .good = R"(ids = [part for text in texts for part in text.split(511)]
tokens = pad_sequence(ids, batch_first=True))"},
      .cpp =
          {.bad =
               R"(for (auto& text : texts) text = text.slice(0, 0, 512);  // the end token is lost
auto tokens = nn::utils::rnn::pad_sequence(texts, /*batch_first=*/true);)",
           .good = R"(std::vector<torch::Tensor> parts;
for (auto& text : texts) {
  for (auto& part : text.split(512)) parts.push_back(part);
}
auto tokens = nn::utils::rnn::pad_sequence(parts, /*batch_first=*/true);)"},
      .sources = {"own reasoning: an end token that all shorter rows have is lost"},
      .covers = {"silent-truncation"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = std::nullopt,
      .also_at = {Event::kFetched},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"every text has its end", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a text in a thousand", Expect::kClean, [] { return With(1, 1000); }},
                   {"a text in ten", Expect::kNote, [] { return With(100, 1000); }}},
  };
}

}  // namespace dlcheck::data
