#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizer/decayed_parameters.h"
#include "checks/signals/schedule/learning_rates.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kDecay{
    .name = "decay",
    .value = 3,
    .low = 0,
    .high = 1e6,
    .unit = "1",
    .meaning = "smallest weight decay of a finding, at any learning rate",
    .source = "own reasoning: AdamW keeps weights below 1 / weight_decay; recipes use up to 1.2"};
constexpr Setting kShrinkage{
    .name = "shrinkage",
    .value = 5e-3,
    .low = 0,
    .high = 1,
    .unit = "1",
    .meaning = "smallest product of learning rate and weight decay of a finding",
    .source = "measured: at most 1e-3 in 240 healthy programs; weights halve within 139 steps"};

double PeakRate(const LearningRates& rates, const std::string& group) {
  for (const auto& [ordinal, optimizer] : rates.optimizers) {
    if (group.starts_with(optimizer.name + "/")) return optimizer.peak;
  }
  return 0;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const DecayedParameters& decayed,
                              const LearningRates& rates) {
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(decayed.groups.size()), "group") +
                            " with weight decay"};
  for (const DecayedParameters::Group& group : decayed.groups) {
    const double shrinkage = PeakRate(rates, group.name) * group.decay;
    if (group.decay < settings[kDecay] && shrinkage < settings[kShrinkage]) continue;
    verdict.findings.push_back(
        {.severity = Severity::kWarning,
         .message = StrCat("The weight decay of ", group.name, " is ", Short(group.decay),
                           ", which takes ", Short(100 * std::min(shrinkage, 1.0)),
                           " % of its weights in each step at the peak learning rate."),
         .places = {{.thing = group.name, .file = ""}},
         .first_step = 0,
         .last_step = 0,
         .count = static_cast<int64_t>(group.parameters),
         .measured = group.decay,
         .bound = settings[kDecay]});
  }
  return verdict;
}

Evidence Decaying(std::string_view decay, double rate) {
  RunBuilder run = TwoLayers();
  run.Attribute("group", "optimizer#0/group#0", "weight_decay", decay);
  for (int step = 0; step < 4; ++step) {
    run.Quantity(Quantity::kLearningRate, "group", "optimizer#0/group#0", rate);
    AddStep(run, {.held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check ExcessiveWeightDecay() {
  return {
      .id = "optimizer/excessive_weight_decay",
      .title = "Weight decay pulls the weights to zero",
      .promise = "Weight decay is small against the updates of the loss.",
      .why =
          "The weights shrink faster than the loss can hold them. The model forgets what it "
          "learns, and its outputs become constant.",
      .method =
          "Multiplies the weight decay of each parameter group with the peak learning rate of its "
          "optimizer.",
      .fix = "Lower weight_decay: 0.01 to 0.1 is usual with AdamW, 1e-4 to 5e-4 with SGD.",
      .limits = {.needs = "A parameter group with weight decay, and recorded learning rates.",
                 .silent_when = "The weight decay is below 3, and a step takes less than 0.5 % of "
                                "the weights.",
                 .severity = "",
                 .blind_spots = "Weight decay that the program applies itself.",
                 .sensitivity = ""},
      .python = {.bad = "optimizer = AdamW(model.parameters(), lr=1e-3, weight_decay=10)",
                 .good = "optimizer = AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)"},
      .cpp = {.bad = "AdamW optimizer(model->parameters(), AdamWOptions(1e-3).weight_decay(10));",
              .good =
                  "AdamW optimizer(model->parameters(), AdamWOptions(1e-3).weight_decay(0.01));"},
      .sources = {"Loshchilov and Hutter 2019: decoupled weight decay", "own reasoning"},
      .covers = {"wrong-weight-decay-group"},
      .explains = {"gradients/vanishing", "learnability/no_better_than_constant",
                   "optimizer/weight_decay_on_norms"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kOptimizerBuilt,
      .settings = {kDecay, kShrinkage},
      .judgement = Reads<&Judge>(),
      .examples = {{"as AdamW has it", Expect::kClean, [] { return Decaying("0.01", 1e-3); }},
                   {"strong, at a small rate", Expect::kClean, [] { return Decaying("1", 1e-3); }},
                   {"ten", Expect::kWarning, [] { return Decaying("10", 1e-4); }},
                   {"moderate, at a large rate", Expect::kWarning,
                    [] { return Decaying("0.1", 0.1); }}},
  };
}

}  // namespace dlcheck::optimizer
