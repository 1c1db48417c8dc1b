#include <set>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizer/shared_steps.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kSteps{
    .name = "steps",
    .value = 8,
    .low = 1,
    .high = 1e6,
    .unit = "sampled steps",
    .meaning = "fewest pairs of steps for a finding",
    .source = "own reasoning: a switch from one optimizer to another is one pair"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const SharedSteps& shared) {
  Verdict verdict{.findings = {},
                  .judged = Counted(shared.judged, "step") + " after a step of another optimizer"};
  for (const SharedSteps::Pair& pair : shared.pairs) {
    const auto count = static_cast<int64_t>(pair.steps.size());
    if (static_cast<double>(count) < settings[kSteps]) continue;
    std::set<std::string> names;
    for (const auto& [step, same] : pair.steps) names.insert(same.begin(), same.end());
    std::vector<Place> places;
    for (const std::string& name : names) places.push_back({.thing = name, .file = ""});
    verdict.findings.push_back(
        {.severity = Severity::kWarning,
         .message = StrCat(pair.first, " and ", pair.second, " stepped one after the other in ",
                           Counted(count, "sampled pair"), " of steps, and both updated ",
                           Counted(static_cast<int64_t>(names.size()), "parameter"), " (",
                           Listed({names.begin(), names.end()}), ") with the same gradient."),
         .places = std::move(places),
         .first_step = pair.steps.begin()->first,
         .last_step = pair.steps.rbegin()->first,
         .count = count,
         .measured = static_cast<double>(names.size()),
         .bound = 0});
  }
  return verdict;
}

// Ten rounds of two optimizers. The second consumes this norm of the trunk's gradient, after its
// own backward call if `own_backward`.
Evidence InTurn(double second_norm, bool own_backward) {
  RunBuilder run = TwoLayers();
  for (int round = 0; round < 10; ++round) {
    run.Event(Event::kBackward, 0, "loss", "cross_entropy");
    run.Quantity(Quantity::kGradientNorm, "parameter", "trunk.weight", 0.1);
    run.Event(Event::kStep, 0, "optimizer", "");
    if (own_backward) run.Event(Event::kBackward, 0, "loss", "cross_entropy");
    run.Quantity(Quantity::kGradientNorm, "parameter", "trunk.weight", second_norm);
    run.Quantity(Quantity::kGradientNorm, "parameter", "head.weight", 0.1);
    run.Ordinal(1).Event(Event::kStep, 0, "optimizer", "").Ordinal(0);
  }
  return PlainOnly(run);
}

}  // namespace

Check ParametersInTwoOptimizers() {
  return {
      .id = "optimizer/parameters_in_two_optimizers",
      .title = "Two optimizers step the same parameters",
      .promise = "Only one optimizer steps each parameter on the same gradient.",
      .why =
          "Two optimizers apply the same gradient to one parameter. Its learning rate is the sum "
          "of both, and each optimizer's state ignores the other's updates.",
      .method =
          "Compares the gradients of two consecutive steps of different optimizers with no "
          "backward call in between. The same parameter has the same gradient norm in both.",
      .fix =
          "Give each parameter to one optimizer. Put a shared trunk into only one of the "
          "optimizers.",
      .limits = {.needs = "Two optimizers that step one after the other.",
                 .silent_when = "Each optimizer steps after its own backward call.",
                 .severity = "",
                 .blind_spots = "Training a shared trunk twice on purpose looks the same.",
                 .sensitivity = ""},
      .python = {.bad = R"(opt_a = torch.optim.Adam(chain(trunk.parameters(), head_a.parameters()))
opt_b = torch.optim.Adam(chain(trunk.parameters(), head_b.parameters()))
(loss_a + loss_b).backward()
opt_a.step()
opt_b.step()  # steps the trunk again)",
                 .good = R"(opt_a = torch.optim.Adam(chain(trunk.parameters(), head_a.parameters()))
opt_b = torch.optim.Adam(head_b.parameters())
(loss_a + loss_b).backward()
opt_a.step()
opt_b.step())"},
      .cpp = {.bad =
                  R"(torch::optim::Adam opt_a(Joined(trunk, head_a)), opt_b(Joined(trunk, head_b));
(loss_a + loss_b).backward();
opt_a.step();
opt_b.step();  // steps the trunk again)",
              .good =
                  R"(torch::optim::Adam opt_a(Joined(trunk, head_a)), opt_b(head_b->parameters());
(loss_a + loss_b).backward();
opt_a.step();
opt_b.step();)"},
      .sources = {"own reasoning"},
      .covers = {"missing-or-repeated-parameter"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kOptimizerBuilt,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"different gradients", Expect::kClean, [] { return InTurn(0.11, false); }},
                   {"the same gradient", Expect::kWarning, [] { return InTurn(0.1, false); }},
                   {"the same norm after a backward call", Expect::kClean,
                    [] { return InTurn(0.1, true); }}},
  };
}

}  // namespace dlcheck::optimizer
