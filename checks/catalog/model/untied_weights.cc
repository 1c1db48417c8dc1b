#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/model/ties.h"

namespace dlcheck::model {
namespace {

// Of an embedding and a layer that began alike, in a Python program.
void JudgeCopies(const Ties& ties, Verdict& verdict) {
  for (const Statement& copy : ties.copies) {
    verdict.findings.push_back(StatementFinding(
        copy, Severity::kWarning,
        StrCat(
            copy.name,
            " began with the numbers of an embedding, but is a parameter of its own: before step ",
            copy.last_step, " they differed by ", Short(copy.value), " of ", Short(copy.aux), "."),
        copy.name));
  }
}

absl::StatusOr<Verdict> Judge(const Settings&, const Ties& ties) {
  const auto looked_at = static_cast<int64_t>(ties.ties.size() + ties.copies.size());
  Verdict verdict{.findings = {}, .judged = Counted(looked_at, "tied parameter")};
  JudgeCopies(ties, verdict);
  for (const Ties::Tie& tie : ties.ties) {
    const Sample* first = nullptr;
    const Sample* last = nullptr;
    int64_t count = 0;
    for (const Sample& sample : tie.distances) {
      if (!(sample.value > 0)) continue;
      if (first == nullptr) first = &sample;
      last = &sample;
      ++count;
    }
    if (first == nullptr) continue;
    verdict.findings.push_back(
        {.severity = Severity::kError,
         .message = StrCat(
             tie.one, " and ", tie.other, " are declared as tied, but differed by ",
             Short(first->value), " before step ", first->step,
             count == 1 ? "" : StrCat(" and by ", Short(last->value), " before step ", last->step),
             ", in ", count, " of ",
             Counted(static_cast<int64_t>(tie.distances.size()), "comparison"), "."),
         .places = {{.thing = tie.one, .file = ""}, {.thing = tie.other, .file = ""}},
         .first_step = first->step,
         .last_step = last->step,
         .count = count,
         .measured = last->value,
         .bound = 0});
  }
  return verdict;
}

// Apart by `distance` before the last step.
Evidence Apart(double distance) {
  RunBuilder run = TwoLayers();
  run.Attribute("parameter", "trunk.weight", "tied_to", "head.weight");
  for (int step = 0; step < 3; ++step) {
    run.Quantity(Quantity::kTiedDistance, "parameter", "trunk.weight", step == 2 ? distance : 0);
    AddStep(run, {.held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check UntiedWeights() {
  return {
      .id = "model/untied_weights",
      .title = "Tied weights have come apart",
      .promise = "Parameters that are declared as tied stay one parameter.",
      .why =
          "Each copy gets its own gradient and optimizer state, and the copies drift apart. A file "
          "saved with one parameter then holds only one of two.",
      .method =
          "Computes the norm of the difference between both parameters, before step 0 and steps "
          "that are powers of two. In a Python program, a linear layer that begins with the "
          "numbers "
          "of an embedding is taken for its copy.",
      .fix =
          "Assign the parameter itself (head.weight = embedding.weight). Assign it again after any "
          "code that loads, casts, moves, wraps or copies the model.",
      .limits = {.needs = "A C++ program that names its tied parameters (Probe::DeclareTied), or a "
                          "Python program.",
                 .silent_when =
                     "Two copies have equal values: the check reports the copies once they differ.",
                 .severity =
                     "An error, and a warning in a Python program, where the copy may be meant.",
                 .blind_spots =
                     "In Python, ties of other layers, and copies that differ from the start.",
                 .sensitivity = ""},
      .python = {.bad = R"(self.embedding = nn.Embedding(vocabulary, width)
self.head = nn.Linear(width, vocabulary, bias=False)
self.head.weight.data.copy_(self.embedding.weight)  # a copy)",
                 .good = R"(self.embedding = nn.Embedding(vocabulary, width)
self.head = nn.Linear(width, vocabulary, bias=False)
self.head.weight = self.embedding.weight  # one parameter)"},
      .cpp =
          {.bad =
               R"(embedding = register_module("embedding", torch::nn::Embedding(vocabulary, width));
head = register_module("head", torch::nn::Linear(width, vocabulary));
head->weight.data().copy_(embedding->weight);  // a copy)",
           .good =
               R"(embedding = register_module("embedding", torch::nn::Embedding(vocabulary, width));
head = register_module("head", torch::nn::Linear(width, vocabulary));
head->weight = embedding->weight;  // one parameter)"},
      .sources = {"Press and Wolf 2017", "own reasoning: one parameter has no distance to itself"},
      .covers = {"untied-weights", "ties-broken-by-load"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .also_at = {Event::kModuleBuilt},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"one parameter", Expect::kClean, [] { return Apart(0); }},
                   {"two parameters that differ by 1e-12", Expect::kError,
                    [] { return Apart(1e-12); }},
                   {"a copy of the embedding", Expect::kWarning,
                    [] { return Stating(Quantity::kCopiedTie, "copy", "head.weight", 0.5, 3); }}},
  };
}

}  // namespace dlcheck::model
