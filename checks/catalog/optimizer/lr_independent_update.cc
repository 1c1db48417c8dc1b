#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/optimizer/zero_rate_steps.h"
#include "checks/signals/schedule/learning_rates.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kTimes{
    .name = "times",
    .value = 16,
    .low = 1,
    .high = 1e9,
    .unit = "times the resolution of the numbers",
    .meaning = "smallest relative change of a parameter that counts",
    .source = "measured: at most 8, for a 256-row matrix that each step makes orthogonal again"};
constexpr Setting kSteps{
    .name = "steps",
    .value = 3,
    .low = 1,
    .high = 1e6,
    .unit = "steps",
    .meaning = "fewest steps with a change; one of the last steps must be among them",
    .source = "own reasoning: a change that stops or happens once is intentional"};

bool KeepsMoving(const Settings& settings, const ZeroRateSteps::Optimizer& optimizer,
                 const ZeroRateSteps::Parameter& parameter) {
  const auto few = static_cast<size_t>(settings[kSteps]);
  if (parameter.steps.size() < few || optimizer.steps.size() < few) return false;
  return *parameter.steps.rbegin() >= optimizer.steps[optimizer.steps.size() - few] &&
         parameter.smallest > settings[kTimes] * parameter.resolution;
}

std::string Motion(const ZeroRateSteps::Optimizer& optimizer, const ZeroRateSteps::Parameter& most,
                   size_t moving) {
  constexpr std::string_view kHow[] = {" shrank by ", " changed by ", " grew by "};
  return StrCat("At learning rate 0, ", moving, " of ",
                Counted(Whole(optimizer.compared), "parameter"), " of ", optimizer.name,
                " still changed: ", most.name, kHow[most.growth + 1], Short(most.smallest),
                " or more of its norm in ", most.steps.size(), " of ", optimizer.steps.size(),
                " steps, ", most.between ? "between calls of step()." : "inside step().");
}

std::string Unread(const std::string& name) {
  return StrCat("The program changes the learning rate of ", name,
                ", but step() ignores it: learning rates 0 and 0.5 gave bitwise equal weights.");
}

bool Changes(const IfSeen<LearningRates>& rates, int ordinal) {
  const auto found = rates->optimizers.find(ordinal);
  return found != rates->optimizers.end() && !found->second.constant;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const During<kZeroLr, ZeroRateSteps>& run,
                              const IfSeen<LearningRates>& rates) {
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(run->optimizers.size()), "optimizer") +
                            " at learning rate 0"};
  for (const auto& [ordinal, optimizer] : run->optimizers) {
    std::vector<Place> places;
    const ZeroRateSteps::Parameter* most = nullptr;
    for (const ZeroRateSteps::Parameter& parameter : optimizer.moved) {
      if (!KeepsMoving(settings, optimizer, parameter)) continue;
      places.push_back({.thing = parameter.name, .file = ""});
      if (most == nullptr || parameter.smallest > most->smallest) most = &parameter;
    }
    if (most == nullptr) continue;
    const bool unread = optimizer.unread && rates && Changes(rates, ordinal);
    verdict.findings.push_back(
        {.severity = unread ? Severity::kWarning : Severity::kNote,
         .message = unread ? Unread(optimizer.name) : Motion(optimizer, *most, places.size()),
         .places = std::move(places),
         .first_step = optimizer.steps.front(),
         .last_step = optimizer.steps.back(),
         .count = static_cast<int64_t>(most->steps.size()),
         .measured = most->smallest,
         .bound = settings[kTimes] * most->resolution});
  }
  return verdict;
}

// A run whose learning rate falls, and one at learning rate 0 in which a parameter changes by
// `share` in so many steps.
Evidence AtZero(double share, int steps) {
  RunBuilder plain = TwoLayers(), zero = TwoLayers();
  zero.Owner("optimizer");
  for (int step = 0; step < 8; ++step) {
    plain.Quantity(Quantity::kLearningRate, "group", "optimizer#0/group#0", 0.1 / (1 + step));
    zero.Quantity(Quantity::kRestedParameters, "optimizer", "", 4);
    if (step < steps) {
      zero.Quantity(Quantity::kUnscaledChange, "parameter", "head.weight", share, 1.2e-7);
      zero.Quantity(Quantity::kUnscaledDirection, "parameter", "head.weight", -1, 0);
    }
    AddStep(plain, {.held = {}});
    AddStep(zero, {.held = {}});
  }
  zero.Quantity(Quantity::kUnreadRate, "optimizer", "", steps == 8 ? 1 : 0);
  Evidence evidence;
  evidence.Add(kPlain, plain.Build());
  evidence.Add(kZeroLr, zero.Build());
  return evidence;
}

}  // namespace

Check LrIndependentUpdate() {
  return {
      .id = "optimizer/lr_independent_update",
      .title = "Parameters change at learning rate 0",
      .promise = "Steps at learning rate 0 leave the weights unchanged.",
      .why =
          "An update that the learning rate does not scale takes over when a schedule lowers the "
          "learning rate.",
      .method =
          "Runs the program again with learning rate 0 in every group. Compares each parameter "
          "that has a gradient with its value one step earlier. At one step, a trial step at "
          "another learning rate is compared too.",
      .fix =
          "Scale the update by the learning rate, as in p.mul_(1 - group['lr'] * decay). In your "
          "own step(), read group['lr'] at each step instead of a stored copy.",
      .limits = {.needs = "--deep and an optimizer with lr in its param_groups. The optimizer must "
                          "not resume from a file.",
                 .silent_when = "Changes stop before the end or touch few weights. In bf16, "
                                "changes below 1/8 at a time are ignored.",
                 .severity = "Warning if a step at another learning rate gives the same bits and "
                             "the program changes the learning rate. Otherwise note, because the "
                             "program may scale by its own learning rate.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(with torch.no_grad():
    for p in model.parameters():
        p.mul_(1 - weight_decay)
optimizer.step())",
                 .good = R"(lr = optimizer.param_groups[0]["lr"]
with torch.no_grad():
    for p in model.parameters():
        p.mul_(1 - lr * weight_decay)
optimizer.step())"},
      .cpp = {.bad = R"(torch::NoGradGuard no_grad;
for (auto& p : model->parameters()) p.mul_(1 - weight_decay);)",
              .good = R"(const double lr = optimizer.param_groups()[0].options().get_lr();
torch::NoGradGuard no_grad;
for (auto& p : model->parameters()) p.mul_(1 - lr * weight_decay);)"},
      .sources = {"own reasoning: exact",
                  "Loshchilov and Hutter, Decoupled weight decay regularization: the schedule "
                  "scales the decay too"},
      .covers = {"wrong-weight-decay-group", "scheduler-of-another-optimizer"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kOptimizerBuilt,
      .settings = {kTimes, kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"changes that stop", Expect::kClean, [] { return AtZero(1e-4, 5); }},
                   {"changes no larger than rounding error", Expect::kClean,
                    [] { return AtZero(1.5e-6, 8); }},
                   {"the same bits at any learning rate", Expect::kWarning,
                    [] { return AtZero(2.5e-6, 8); }},
                   {"changes in all but the last step", Expect::kNote,
                    [] { return AtZero(1e-4, 7); }}},
  };
}

}  // namespace dlcheck::optimizer
