#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::data {
namespace {

constexpr Setting kShare{.name = "share",
                         .value = 0.4,
                         .low = 0,
                         .high = 1,
                         .unit = "1",
                         .meaning = "share of rows that end with one token, below which none ends",
                         .source = "own reasoning: an end token ends all rows, a full stop many"};
constexpr Setting kTokens{.name = "tokens",
                          .value = 4,
                          .low = 2,
                          .high = 1e9,
                          .unit = "tokens",
                          .meaning = "fewest different last tokens",
                          .source = "own reasoning: texts may end with one of a few marks"};

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const Stated<Quantity::kEndTokens>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (statement.value < settings[kTokens] || statement.aux >= settings[kShare]) continue;
    Finding finding = StatementFinding(
        statement, Severity::kNote,
        StrCat("The targets of padded rows end with ", statement.value,
               " different tokens, the most frequent of them in ", Short(100 * statement.aux),
               " % of the rows: no target says where a text ends."),
        statement.name);
    finding.bound = settings[kShare];
    verdict.findings.push_back(std::move(finding));
  }
  return verdict;
}

Evidence With(double tokens, double share) {
  return Stating(Quantity::kEndTokens, "loss", "cross_entropy", tokens, share);
}

}  // namespace

Check NoEndToken() {
  return {
      .id = "data/no_end_token",
      .title = "No target says where a text ends",
      .promise = "The last target of each text is an end token.",
      .why =
          "The model never learns to end a text, so generation goes on until its limit. It is "
          "often the padding token that ends texts, and its targets are ignored.",
      .method =
          "Looks at rows whose targets are their own next tokens and are ignored from some place "
          "on. Counts the last targets before that place.",
      .fix =
          "Append the end token to each text. Ignore the padding by its position, and not by "
          "its token, if both are the same token.",
      .limits = {.needs = "A program, next-token targets with an ignore_index on the CPU or CUDA, "
                          "and 64 padded rows.",
                 .silent_when = "One token ends 40 % of the rows or more, or there are fewer than "
                                "four last tokens.",
                 .severity = "Always a note: a model may never be asked to generate.",
                 .blind_spots = "Rows that are cut at their longest length.",
                 .sensitivity = ""},
      .python = {.bad = R"(tokenizer.pad_token = tokenizer.eos_token
labels = ids.masked_fill(ids == tokenizer.pad_token_id, -100))",
                 .good = R"(tokenizer.pad_token = tokenizer.eos_token
labels = ids.masked_fill(attention_mask == 0, -100))"},
      .cpp = {.bad = R"(const int64_t pad = end_of_text;
auto labels = ids.masked_fill(ids == pad, -100);)",
              .good = R"(const int64_t pad = end_of_text;
auto labels = ids.masked_fill(is_padding, -100);)"},
      .sources = {"own reasoning: the loss of a position that is ignored has no gradient"},
      .covers = {"end-token-never-trained"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = std::nullopt,
      .also_at = {Event::kFetched},
      .settings = {kShare, kTokens},
      .judgement = Reads<&Judge>(),
      .examples = {{"one end token", Expect::kClean, [] { return With(1, 1); }},
                   {"three full stops", Expect::kClean, [] { return With(3, 0.36); }},
                   {"texts that end with a full stop or anything", Expect::kClean,
                    [] { return With(12, 0.7); }},
                   {"any word at the end", Expect::kNote, [] { return With(40, 0.08); }}},
  };
}

}  // namespace dlcheck::data
