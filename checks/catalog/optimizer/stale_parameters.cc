#include <map>
#include <set>
#include <utility>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/parameter_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients/gradients.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps of the optimizer for a finding",
                         .source = "own reasoning: a model for a later stage may not have run yet"};

using Parameters = std::vector<const Gradients::Parameter*>;

// Tensors that an optimizer holds without use, and those that it should hold instead.
struct Stale {
  std::vector<std::string> held, used;
  bool all_matched = true;  // each unused tensor has a counterpart in use
};

// Parameters of models that got gradients but are in no optimizer, by shape.
std::map<std::string, Parameters> Orphaned(const Gradients& gradients) {
  std::map<std::string, Parameters> found;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    const bool is_used = !parameter.orphan && parameter.requires_grad && parameter.gradient_seen;
    if (is_used && parameter.optimizer.empty()) found[parameter.shape].push_back(&parameter);
  }
  return found;
}

// Models of which no part ran or got a gradient, and all have a counterpart. A program may keep the
// model that it replaced.
std::set<int> Replaced(const Gradients& gradients, const std::map<std::string, Parameters>& free) {
  std::set<int> models, others;
  std::map<std::pair<int, std::string>, size_t> needed;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    if (parameter.orphan) continue;
    const bool is_idle = !parameter.module_ran && !parameter.gradient_seen;
    (is_idle && !parameter.optimizer.empty() ? models : others).insert(parameter.model);
    const auto fitting = free.find(parameter.shape);
    const size_t all = fitting == free.end() ? 0 : fitting->second.size();
    if (++needed[{parameter.model, parameter.shape}] > all) others.insert(parameter.model);
  }
  for (const int model : others) models.erase(model);
  return models;
}

Stale Match(const Gradients& gradients, double enough) {
  std::map<std::string, Parameters> free = Orphaned(gradients);
  const std::set<int> replaced = Replaced(gradients, free);
  Stale stale;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    if (!parameter.orphan && !replaced.contains(parameter.model)) continue;
    if (parameter.gradient_seen || !parameter.requires_grad) continue;
    if (static_cast<double>(parameter.optimizer_steps) < enough) continue;
    Parameters& fitting = free[parameter.shape];
    stale.all_matched = stale.all_matched && !fitting.empty();
    if (fitting.empty()) continue;
    stale.held.push_back(parameter.name);
    stale.used.push_back(fitting.front()->name);
    fitting.erase(fitting.begin());
  }
  return stale;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Gradients& gradients) {
  if (!gradients.backward_seen) return absl::NotFoundError("no backward call was seen");
  const Stale stale = Match(gradients, settings[kSteps]);
  Verdict verdict{
      .findings = {},
      .judged = JudgedParameters(static_cast<int64_t>(gradients.parameters.size()), gradients)};
  if (stale.held.empty()) return verdict;
  const auto count = static_cast<int64_t>(stale.held.size());
  Finding finding =
      FindingAt(stale.used, stale.all_matched ? Severity::kError : Severity::kWarning,
                StrCat(Counted(count, "tensor"), " in an optimizer (", Listed(stale.held),
                       ") never got a gradient, and no model that ran uses them. As many "
                       "parameters of the same shapes (",
                       Listed(stale.used), ") got gradients but are in no optimizer."),
                gradients);
  verdict.findings.push_back(std::move(finding));
  return verdict;
}

// The optimizer holds `held` tensors of an earlier model; the model's own are in none.
Evidence Holding(int held, bool own_in_optimizer, std::string_view shape) {
  RunBuilder run = TwoLayers();
  for (int i = 0; i < held; ++i) {
    const std::string name = StrCat("optimizer#0/group#0/", i);
    run.Parameter(name).Attribute("parameter", name, "orphan", "1");
    run.Attribute("parameter", name, "shape", i == 0 ? shape : "10x64");
  }
  if (!own_in_optimizer) {
    for (const char* name : {"trunk.weight", "head.weight"}) {
      run.Attribute("parameter", name, "optimizer", "");
      run.Attribute("parameter", name, "gradient_seen", "1");
    }
  }
  for (int step = 0; step < 12; ++step) {
    AddStep(run, own_in_optimizer ? StepValues{.held = {}}
                                  : StepValues{.trunk_gradient = std::nullopt,
                                               .head_gradient = std::nullopt,
                                               .held = {}});
  }
  return PlainOnly(run);
}

// A second model, of which nothing runs, in an optimizer; and in none, the head that replaced it.
Evidence Keeping(bool replaced) {
  RunBuilder run = TwoLayers();
  if (replaced) run.Attribute("parameter", "head.weight", "optimizer", "");
  if (replaced) run.Attribute("parameter", "head.weight", "gradient_seen", "1");
  run.Ordinal(1).Attribute("parameter", "weight", "optimizer", "optimizer#0/group#0");
  run.Attribute("parameter", "weight", "shape", "10x64").Ordinal(0);
  const std::optional<double> gradient = replaced ? std::nullopt : std::optional(0.2);
  for (int step = 0; step < 12; ++step) AddStep(run, {.head_gradient = gradient, .held = {}});
  return PlainOnly(run);
}

}  // namespace

Check StaleParameters() {
  return {
      .id = "optimizer/stale_parameters",
      .title = "The optimizer holds an old model's parameters",
      .promise =
          "An optimizer holds the tensors that the model uses, not those of an earlier model.",
      .why =
          "Gradients reach the model's tensors, but updates go to other tensors. The model keeps "
          "its initial weights.",
      .method =
          "Finds optimizer tensors that belong to no model that ran and never got a gradient. "
          "Matches them by shape with parameters that got gradients and are in no optimizer.",
      .fix =
          "Build the optimizer after the model is final: after it is moved, wrapped, loaded or "
          "given a new head.",
      .limits =
          {.needs = "Eight sampled steps of the optimizer.",
           .silent_when = "A tensor without a counterpart of the same shape. A tensor that got a "
                          "gradient, even if it belongs to no model.",
           .severity =
               "Error if every unused tensor has a counterpart; warning if only some have one.",
           .blind_spots = "",
           .sensitivity = ""},
      .python = {.bad = R"(optimizer = torch.optim.AdamW(model.parameters())
model.fc = nn.Linear(512, 10)  # a new head, unknown to the optimizer
train(model, optimizer))",
                 .good = R"(model.fc = nn.Linear(512, 10)
optimizer = torch.optim.AdamW(model.parameters())
train(model, optimizer))"},
      .cpp = {.bad = R"(torch::optim::AdamW optimizer(net->parameters());
net->fc = net->replace_module("fc", nn::Linear(512, 10));
train(net, optimizer);)",
              .good = R"(net->fc = net->replace_module("fc", nn::Linear(512, 10));
torch::optim::AdamW optimizer(net->parameters());
train(net, optimizer);)"},
      .sources = {"accelerate issues 2665 and 3256", "PyTorch documentation of torch.optim"},
      .covers = {"optimizer-holds-old-tensors"},
      .explains = {"learnability/input_independence", "learnability/cannot_overfit_one_batch",
                   "gradients/missing", "gradients/no_parameter_gets_gradient",
                   "optimizer/untracked_parameters"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kOptimizerBuilt,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"tensors of a model for a later stage", Expect::kClean,
                    [] { return Holding(2, true, "64x32"); }},
                   {"tensors of an earlier model", Expect::kError,
                    [] { return Holding(2, false, "64x32"); }},
                   {"a head that was replaced", Expect::kError, [] { return Keeping(true); }},
                   {"another model for a later stage", Expect::kClean,
                    [] { return Keeping(false); }},
                   {"one of them has no counterpart", Expect::kWarning,
                    [] { return Holding(2, false, "64x31"); }}},
  };
}

}  // namespace dlcheck::optimizer
