#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::optimizer {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kListedTwice>& stated) {
  Verdict verdict = NothingStated(stated);
  if (stated.all.empty()) return verdict;
  const Statement& first = stated.all.front();
  std::vector<std::string> names;
  for (const Statement& statement : stated.all) names.push_back(statement.name);
  Finding finding = StatementFinding(
      first, Severity::kWarning,
      StrCat("The optimizer lists ", Counted(static_cast<int64_t>(names.size()), "parameter"), " (",
             Listed(names), ") more than once: each step moves ", names.size() == 1 ? "it" : "them",
             " ", Short(first.value), " times."));
  for (const std::string& name : names) finding.places.push_back({.thing = name, .file = ""});
  verdict.findings.push_back(std::move(finding));
  return verdict;
}

Evidence With(int times) {
  return Stating(Quantity::kListedTwice, "parameter", "head.weight", 2, 0, times);
}

}  // namespace

Check ParameterListedTwice() {
  return {
      .id = "optimizer/parameter_listed_twice",
      .title = "An optimizer has the same parameter twice",
      .promise = "An optimizer moves each parameter once in each step.",
      .why =
          "The parameter gets two updates from one gradient. Its learning rate is twice as high, "
          "and the bias correction of Adam counts two steps.",
      .method =
          "Counts at the first step how often the groups of an optimizer hold each parameter.",
      .fix =
          "Remove parameters that occur again before building the optimizer. In C++, "
          "parameters() lists a module's weights once for each place where it is registered.",
      .limits = {.needs = "A Python program, or a C++ program that is watched as it is.",
                 .silent_when = "",
                 .severity = "Always a warning.",
                 .blind_spots = "Groups that are added after the first step.",
                 .sensitivity = ""},
      .python = {.bad = R"(head.weight = body.embedding.weight  # tied: now in both lists
parameters = list(body.parameters()) + list(head.parameters())
optimizer = torch.optim.AdamW(parameters))",
                 .good = R"(head.weight = body.embedding.weight
parameters = {*body.parameters(), *head.parameters()}
optimizer = torch.optim.AdamW(parameters))"},
      .cpp = {.bad = R"(blocks->push_back(block);
blocks->push_back(block);  // the same module again
torch::optim::AdamW optimizer(model->parameters());)",
              .good = R"(blocks->push_back(Block());
blocks->push_back(Block());
torch::optim::AdamW optimizer(model->parameters());)"},
      .sources = {"own reasoning: exact",
                  "torch.optim.Optimizer.add_param_group(): warns of duplicates in a group"},
      .covers = {"missing-or-repeated-parameter"},
      .explains = {"optimizer/wrong_update"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kOptimizerBuilt,
      .also_at = {Event::kOptimizerBuilt},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"each parameter once", Expect::kClean, [] { return With(0); }},
                   {"one parameter twice", Expect::kWarning, [] { return With(1); }}},
  };
}

}  // namespace dlcheck::optimizer
