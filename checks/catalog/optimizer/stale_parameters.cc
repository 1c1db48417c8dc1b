#include <utility>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/parameter_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizer/stale_tensors.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps of the optimizer for a finding",
                         .source = "own reasoning: a model for a later stage may not have run yet"};

Finding FindingAbout(const StaleTensors& stale, std::string message, const Gradients& gradients) {
  return FindingAt(stale.used, stale.all_matched ? Severity::kError : Severity::kWarning,
                   std::move(message), gradients);
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Gradients& gradients) {
  if (!gradients.backward_seen) return absl::NotFoundError("no backward call was seen");
  Verdict verdict{
      .findings = {},
      .judged = JudgedParameters(static_cast<int64_t>(gradients.parameters.size()), gradients)};
  if (const StaleTensors never = NeverUsed(gradients, settings[kSteps]); !never.held.empty()) {
    const std::string tensors = Counted(static_cast<int64_t>(never.held.size()), "tensor");
    verdict.findings.push_back(FindingAbout(
        never,
        StrCat(tensors, " in an optimizer (", Listed(never.held),
               ") never got a gradient, and no model that ran uses them. As many parameters of "
               "the same shapes (",
               Listed(never.used), ") got gradients but are in no optimizer."),
        gradients));
    return verdict;
  }
  const StaleTensors late = UsedNoMore(gradients, settings[kSteps]);
  if (late.held.empty()) return verdict;
  Finding finding = FindingAbout(
      late,
      StrCat("No tensor of an optimizer (", Listed(late.held), ") got a gradient after step ",
             late.last_step, ". As many parameters of the same shapes (", Listed(late.used),
             ") got gradients but are in no optimizer: the model was replaced."),
      gradients);
  finding.first_step = late.last_step + 1;
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

// From a step on, another model of the same shapes gets the gradients, of 64 steps.
Evidence ReplacedAt(int step) {
  RunBuilder run = TwoLayers();
  run.Ordinal(1);
  for (const char* name : {"trunk.weight", "head.weight"}) {
    run.Attribute("parameter", name, "gradient_seen", "1");
    run.Attribute("parameter", name, "shape", name[0] == 't' ? "64x32" : "10x64");
  }
  run.Ordinal(0);
  for (int i = 0; i < 64; ++i) {
    AddStep(run, i < step ? StepValues{.held = {}}
                          : StepValues{.trunk_gradient = std::nullopt,
                                       .head_gradient = std::nullopt,
                                       .held = {}});
  }
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
          "Finds optimizer tensors that belong to no model that ran and never got a gradient. Also "
          "finds a model that got gradients at first, and none in the last eight sampled steps. "
          "Matches both by shape with parameters that got gradients and are in no optimizer.",
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
TrainOneEpoch(net, *loader, optimizer);)",
              .good = R"(net->fc = net->replace_module("fc", nn::Linear(512, 10));
torch::optim::AdamW optimizer(net->parameters());
TrainOneEpoch(net, *loader, optimizer);)"},
      .sources = {"accelerate issues 2665 and 3256", "PyTorch documentation of torch.optim"},
      .covers = {"optimizer-holds-old-tensors"},
      .explains = {"learnability/input_independence", "learnability/cannot_overfit_one_batch",
                   "gradients/missing", "gradients/no_parameter_gets_gradient",
                   "optimizer/untracked_parameters", "training_loop/teacher_in_train_mode"},
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
                    [] { return Holding(2, false, "64x31"); }},
                   {"a model that was replaced while it trained", Expect::kError,
                    [] { return ReplacedAt(24); }},
                   {"a model that was replaced at the end", Expect::kClean,
                    [] { return ReplacedAt(44); }}},
  };
}

}  // namespace dlcheck::optimizer
