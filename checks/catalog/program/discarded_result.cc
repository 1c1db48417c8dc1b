#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/idle_statements.h"

namespace dlcheck::program {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const IdleStatements& source) {
  Verdict verdict{.findings = {},
                  .judged = source.of_source ? "the program's own files" : "operations"};
  for (const IdleStatements::Statement& statement : source.not_taken) {
    verdict.findings.push_back(
        {.severity = Severity::kWarning,
         .message =
             StrCat("The result of ", statement.words, "() is discarded: the method returns ",
                    "a new tensor and changes nothing in place."),
         .places = {{.thing = "", .file = statement.site.file, .line = statement.site.line}},
         .first_step = 0,
         .last_step = 0,
         .count = 1,
         .measured = 1,
         .bound = 0});
  }
  return verdict;
}

// A program with one statement without effect, of this kind; with none if it is 0.
Evidence With(double kind) {
  RunBuilder run = TwoLayers();
  run.Process("python", "3.11");
  if (kind > 0) run.Quantity(Quantity::kIdleStatement, "statement", "scores.masked_fill", kind);
  AddStep(run, {.held = {}});
  return PlainOnly(run);
}

}  // namespace

Check DiscardedResult() {
  return {
      .id = "program/discarded_result",
      .title = "The result of a tensor method is discarded",
      .promise = "The result of every tensor method without an in-place effect is used.",
      .why =
          "masked_fill, clamp and their kind return a new tensor. Without an assignment, the mask "
          "or the bound is never applied.",
      .method =
          "Parses the files of a Python program at the end of the run. Reports statements that "
          "call such a method and take nothing from the call. In a C++ program, reports results "
          "that are gone before the next operation begins, in three sampled steps.",
      .fix = "Assign the result, or call the in-place method: scores.masked_fill_(mask, value).",
      .limits = {.needs = "A Python program whose files can be read, or a C++ program that is "
                          "watched as it is.",
                 .silent_when = "The call has an `out` argument.",
                 .severity =
                     "Always a warning: a class of the program may have a method of this name.",
                 .blind_spots = "A file of which no line trained is not read. In C++, only the "
                                "methods that mask, clamp or index are seen, dropout, and relu.",
                 .sensitivity = ""},
      .python = {.bad = R"(scores = q @ k.transpose(-2, -1)
scores.masked_fill(mask, float("-inf"))
weights = scores.softmax(-1))",
                 .good = R"(scores = q @ k.transpose(-2, -1)
scores = scores.masked_fill(mask, float("-inf"))
weights = scores.softmax(-1))"},
      .cpp = {.bad = R"(auto scores = torch::matmul(q, k.transpose(-2, -1));
scores.masked_fill(mask, -INFINITY);
auto weights = torch::softmax(scores, -1);)",
              .good = R"(auto scores = torch::matmul(q, k.transpose(-2, -1));
scores = scores.masked_fill(mask, -INFINITY);
auto weights = torch::softmax(scores, -1);)"},
      .sources =
          {"PyTorch documentation of torch.Tensor: methods with a trailing underscore are in "
           "place"},
      .covers = {"discarded-result"},
      .explains = {"attention/visible_next_token", "attention/padding_without_mask",
                   "attention/causal_mask_leak"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"statements with an effect", Expect::kClean, [] { return With(0); }},
                   {"a result that nobody takes", Expect::kWarning, [] { return With(2); }}},
  };
}

}  // namespace dlcheck::program
