#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/learning_rates.h"
#include "checks/signals/zero_rate_steps.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kTimes{.name = "times",
                         .value = 16,
                         .low = 1,
                         .high = 1e9,
                         .unit = "times the resolution of the numbers",
                         .meaning = "motion of a parameter that counts, of its size",
                         .source = "measured: at most 8, where each step makes a matrix of 256 "
                                   "rows orthogonal anew"};
constexpr Setting kSteps{.name = "steps",
                         .value = 3,
                         .low = 1,
                         .high = 1e6,
                         .unit = "steps",
                         .meaning = "fewest in which it moved, and among the last of which it did",
                         .source = "own reasoning: what comes to rest, or happens once, is meant"};

bool KeepsMoving(const Settings& settings, const ZeroRateSteps::Optimizer& optimizer,
                 const ZeroRateSteps::Parameter& parameter) {
  const auto few = static_cast<size_t>(settings[kSteps]);
  if (parameter.steps.size() < few || optimizer.steps.size() < few) return false;
  return *parameter.steps.rbegin() >= optimizer.steps[optimizer.steps.size() - few] &&
         parameter.smallest > settings[kTimes] * parameter.resolution;
}

std::string Motion(const ZeroRateSteps::Optimizer& optimizer, const ZeroRateSteps::Parameter& most,
                   size_t moving) {
  constexpr std::string_view kHow[] = {" shrinks by ", " moves by ", " grows by "};
  return StrCat("With the rate of every group at 0, ", moving, " of ",
                Counted(Whole(optimizer.compared), "parameter"), " of ",
                optimizer.name, " still change: ", most.name, kHow[most.growth + 1],
                Short(most.smallest), " of the size of the weights or more in ", most.steps.size(),
                " of ", optimizer.steps.size(), " steps, ",
                most.between ? "between the calls of step()." : "inside of step().");
}

std::string Unread(const std::string& name) {
  return StrCat("The program changes the rate of ", name,
                ", whose step() does not read it: at a rate of 0 it takes the weights to the same "
                "bits as at a rate of 0.5.");
}

bool Changes(const IfSeen<LearningRates>& rates, int ordinal) {
  const auto found = rates->optimizers.find(ordinal);
  return found != rates->optimizers.end() && !found->second.constant;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const During<kZeroRate, ZeroRateSteps>& run,
                              const IfSeen<LearningRates>& rates) {
  Verdict verdict{
      .findings = {},
      .judged = Counted(static_cast<int64_t>(run->optimizers.size()), "optimizer") + " at rate 0"};
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

// A run whose rate falls, and one at rate 0 in which a parameter moves by `share` in so many steps.
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
  evidence.Add(kZeroRate, zero.Build());
  return evidence;
}

}  // namespace

Check LrIndependentUpdate() {
  return {
      .id = "optimizer/lr_independent_update",
      .promise = "Steps at a learning rate of 0 leave the weights as they are.",
      .why =
          "What moves them then is not scaled by the rate: as a schedule lets the rate fall, it "
          "takes over.",
      .method =
          "The program runs again with the rate of every group at 0 while its optimizers step, and "
          "each parameter with a gradient is compared with what it was a step ago. At one step, an "
          "optimizer also steps on trial at another rate.",
      .fix =
          "Scale it by the rate, as in p.mul_(1 - group['lr'] * decay); in a step() of your own, "
          "read group['lr'] at each step and keep no copy of it.",
      .limits =
          "Needs --deep and an optimizer with its rate in its groups, which does not go on from a "
          "file. A warning where a step at another rate ends at the same bits and the program "
          "changes the rate; else a note, as the program may scale by a rate of its own. What "
          "comes to rest, or touches few weights, is let pass; of weights in bf16, so is what is "
          "smaller than an eighth at a time.",
      .sources = {"own reasoning: exact",
                  "Loshchilov and Hutter, Decoupled weight decay regularization: the schedule "
                  "scales the decay too"},
      .covers = {"O05", "S06"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kTimes, kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"it comes to rest", Expect::kClean, [] { return AtZero(1e-4, 5); }},
                   {"no more than rounding", Expect::kClean, [] { return AtZero(1.5e-6, 8); }},
                   {"at the same bits at any rate", Expect::kFaulty,
                    [] { return AtZero(2.5e-6, 8); }},
                   {"in all but the last step", Expect::kFaulty, [] { return AtZero(1e-4, 7); }}},
  };
}

}  // namespace dlcheck::optimizer
