#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/idle_statements.h"

namespace dlcheck::program {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const IdleStatements& source) {
  if (!source.of_source) return absl::NotFoundError("only the source of Python programs is read");
  Verdict verdict{.findings = {}, .judged = "the program's own files"};
  for (const IdleStatements::Statement& statement : source.not_called) {
    verdict.findings.push_back(
        {.severity = Severity::kError,
         .message = StrCat("The statement ", statement.words,
                           " has no effect: it names the method ", "and does not call it."),
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
  if (kind > 0) run.Quantity(Quantity::kIdleStatement, "statement", "optimizer.zero_grad", kind);
  AddStep(run, {.held = {}});
  return PlainOnly(run);
}

}  // namespace

Check MethodNotCalled() {
  return {
      .id = "program/method_not_called",
      .title = "A method is named but not called",
      .promise = "Every statement that names a method of training also calls the method.",
      .why =
          "Without parentheses, Python evaluates the name and does nothing. Training goes on "
          "without the call and without an error.",
      .method =
          "Parses the files of the program at the end of the run. Reports statements that are only "
          "an attribute, such as optimizer.step, for the methods that a training loop calls.",
      .fix = "Add the parentheses: optimizer.step().",
      .limits = {.needs = "A Python program whose files can be read at the end of the run.",
                 .silent_when = "The method has another name than those of PyTorch's loop.",
                 .severity = "",
                 .blind_spots = "A file of which no line trained is not read.",
                 .sensitivity = ""},
      .python = {.bad = R"(optimizer.zero_grad
loss = criterion(model(x), y)
loss.backward()
optimizer.step())",
                 .good = R"(optimizer.zero_grad()
loss = criterion(model(x), y)
loss.backward()
optimizer.step())"},
      .cpp = {},
      .sources = {"own reasoning: an expression statement of an attribute has no effect"},
      .covers = {"method-not-called"},
      .explains = {"optimizer/stale_gradients", "optimizer/never_stepped",
                   "evaluation/in_train_mode", "training_loop/stuck_in_eval_mode"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"statements with an effect", Expect::kClean, [] { return With(0); }},
                   {"a method without parentheses", Expect::kError, [] { return With(1); }}},
  };
}

}  // namespace dlcheck::program
