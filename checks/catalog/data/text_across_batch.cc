#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::data {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kTextAcrossBatch>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kNote,
                         StrCat("Along the batch axis, a token tells ", Short(statement.value),
                                " nats of its neighbor. Along time, a token tells only ",
                                Short(statement.aux), " of the one that follows."),
                         statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kTextAcrossBatch, "loss", "cross_entropy", value, aux, times);
}

}  // namespace

Check TextAcrossBatch() {
  return {
      .id = "data/text_across_batch",
      .title = "A text goes on along the batch, not along time",
      .promise = "A text goes on along the axis on which the model predicts the next token.",
      .why =
          "The model learns to predict a token that is far away in the text. The loss falls only "
          "as far as single tokens can be guessed.",
      .method =
          "Measures how much a token tells of its neighbor, on both axes of the first 32 "
          "compared batches. Takes off how much tokens far apart tell of each other.",
      .fix = "Use view(batch, -1).t().contiguous() to cut a text, and not view(-1, batch).",
      .limits = {.needs = "A program that predicts the next of at most 4096 different tokens.",
                 .silent_when =
                     "Rows of a batch are equal or begin one token later than the one before.",
                 .severity = "Always a note: samples that lie side by side may be alike.",
                 .blind_spots = "Texts in which a token tells little of the next one.",
                 .sensitivity = ""},
      .python = {.bad = R"(data = ids.view(-1, batch_size)  # (time, batch))",
                 .good = R"(data = ids.view(batch_size, -1).t().contiguous())"},
      .cpp = {.bad = "auto data = ids.view({-1, batch_size});  // (time, batch)",
              .good = "auto data = ids.view({batch_size, -1}).t().contiguous();"},
      .sources = {"own reasoning: neighbors in a text depend on each other"},
      .covers = {"text-cut-across-batch"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"along time", Expect::kClean, [] { return With(1.5, 0.2, 0); }},
                   {"along the batch", Expect::kNote, [] { return With(1.5, 0.2); }}},
  };
}

}  // namespace dlcheck::data
