#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::data {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kIgnoredWithin>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kNote,
        StrCat(statement.name, " ignores class ", statement.aux, ", but ", statement.value,
               " such targets stand between others that count: padding may have the number of a "
               "real token."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kIgnoredWithin, "loss", "cross_entropy", value, aux, times);
}

}  // namespace

Check IgnoredClass() {
  return {
      .id = "data/ignored_class",
      .title = "The ignored class stands within texts",
      .promise = "A class that a loss ignores is padding, and stands at the ends of rows.",
      .why =
          "The model never learns to write that token. Attention and embeddings treat it as "
          "padding, too.",
      .method =
          "Looks at cross_entropy and nll_loss with an ignore_index from 0 on, where "
          "targets are the next tokens. Counts ignored targets between two that count.",
      .fix = "Give padding a number of its own, or mark padded targets with -100.",
      .limits = {.needs = "A program whose targets are the next tokens, on the CPU or CUDA.",
                 .silent_when = "Fewer than 2 % of the targets are such.",
                 .severity = "Always a note: padding may part two texts of a row.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(PAD = 0  # and the letter a is 0, too
loss = F.cross_entropy(logits, targets, ignore_index=PAD))",
                 .good = R"(PAD = 0  # letters begin with 1
loss = F.cross_entropy(logits, targets, ignore_index=PAD))"},
      .cpp = {.bad = R"(const int64_t pad = 0;  // and the letter a is 0, too
auto options = F::CrossEntropyFuncOptions().ignore_index(pad);
auto loss = F::cross_entropy(logits, y, options);)",
              .good = R"(const int64_t pad = 0;  // letters begin with 1
auto options = F::CrossEntropyFuncOptions().ignore_index(pad);
auto loss = F::cross_entropy(logits, y, options);)"},
      .sources = {"own reasoning"},
      .covers = {"wrong-tokens-in-loss"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kLossComputed,
      .also_at = {Event::kModuleBuilt},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"padding at the ends", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a letter with that number", Expect::kNote, [] { return With(175, 0); }}},
  };
}

}  // namespace dlcheck::data
