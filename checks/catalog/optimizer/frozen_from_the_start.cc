#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizer/frozen_from_start.h"

namespace dlcheck::optimizer {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const FrozenFromStart& frozen) {
  Verdict verdict{.findings = {}, .judged = Counted(frozen.parameters, "parameter")};
  if (frozen.loaded || frozen.weights.empty()) return verdict;
  const auto count = static_cast<int64_t>(frozen.weights.size());
  std::vector<Place> places;
  for (const std::string& name : frozen.weights) places.push_back({.thing = name, .file = ""});
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat(Listed(frozen.weights, 3), " never required a gradient in ",
                         Counted(frozen.steps, "step"), ", although the optimizer has ",
                         count == 1 ? "it" : "them", " and nothing was loaded."),
       .places = std::move(places),
       .first_step = 0,
       .last_step = frozen.steps,
       .count = count,
       .measured = static_cast<double>(count),
       .bound = 0});
  return verdict;
}

// Four steps with the head frozen, of which it may be known that it is loaded or thawed later.
Evidence Frozen(std::string_view head, bool loads, bool thaws, bool loads_at_end = false) {
  RunBuilder run = TwoLayers();
  run.Attribute("parameter", "head.weight", "requires_grad", head);
  if (loads) run.Event(Event::kLoaded, 0, "model", "Net");
  for (int step = 0; step < 4; ++step) {
    run.Event(Event::kForward, 1, "module", "head").Event(Event::kBackward);
    if (step == 3 && thaws) run.Event(Event::kThawed, 0, "parameter", "head.weight");
    run.Event(Event::kStep, 0, "optimizer", "optimizer#0");
  }
  if (loads_at_end) run.Event(Event::kLoaded, 0, "model", "Net");
  return PlainOnly(run);
}

}  // namespace

Check FrozenFromTheStart() {
  return {
      .id = "optimizer/frozen_from_the_start",
      .title = "The optimizer has weights that are frozen",
      .promise = "Weights that an optimizer was given are trained or were loaded.",
      .why =
          "The optimizer skips a parameter without a gradient. A layer that nobody trained or "
          "loaded stays random.",
      .method =
          "Reads requires_grad of each weight of the optimizer in all sampled steps, and whether "
          "any file or state was loaded.",
      .fix = "Remove requires_grad_(False), or load the weights before you freeze them.",
      .limits = {.needs = "An optimizer step.",
                 .silent_when = "The program loads any file or state before the last optimizer "
                                "begins. The weight requires a "
                                "gradient at any sampled step.",
                 .severity = "Always a note: random features may be meant.",
                 .blind_spots = "Parameters with other names than weight, and those that the "
                                "optimizer was not given.",
                 .sensitivity = ""},
      .python = {.bad = R"(optimizer = SGD(model.parameters(), lr=0.1)
for p in model.head.parameters():
    p.requires_grad_(False))",
                 .good = R"(model.backbone.load_state_dict(torch.load("backbone.pt"))
model.backbone.requires_grad_(False)
optimizer = SGD(model.head.parameters(), lr=0.1))"},
      .cpp = {.bad = R"(torch::optim::SGD optimizer(model->parameters(), /*lr=*/0.1);
for (auto& p : model->head->parameters()) p.set_requires_grad(false);)",
              .good = R"(torch::load(model->backbone, "backbone.pt");
for (auto& p : model->backbone->parameters()) p.set_requires_grad(false);
torch::optim::SGD optimizer(model->head->parameters(), /*lr=*/0.1);)"},
      .sources = {"PyTorch source of Optimizer.step: parameters without a gradient are skipped"},
      .covers = {"missing-or-repeated-parameter", "too-much-frozen"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kModuleBuilt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"everything requires a gradient", Expect::kClean,
                    [] { return Frozen("1", false, false); }},
                   {"a frozen head", Expect::kNote, [] { return Frozen("0", false, false); }},
                   {"a frozen head that was loaded", Expect::kClean,
                    [] { return Frozen("0", true, false); }},
                   {"a frozen head, and a checkpoint loaded after training", Expect::kNote,
                    [] { return Frozen("0", false, false, true); }},
                   {"a head that is thawed later", Expect::kClean,
                    [] { return Frozen("0", false, true); }}},
  };
}

}  // namespace dlcheck::optimizer
