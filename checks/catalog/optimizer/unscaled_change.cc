#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
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
                         .source =
                             "own reasoning: weights that are scaled to one size in each "
                             "step move by one or two"};
constexpr Setting kSteps{.name = "steps",
                         .value = 3,
                         .low = 1,
                         .high = 1e6,
                         .unit = "steps",
                         .meaning = "in all of which it moved",
                         .source = "own reasoning: what happens now and then may be meant"};
constexpr Setting kFallen{.name = "fallen",
                          .value = 0.5,
                          .low = 0,
                          .high = 1,
                          .unit = "of the largest rate",
                          .meaning = "last rate of the plain run below which it is a warning",
                          .source =
                              "own reasoning: under a rate that stays, a change beside it is "
                              "a matter of units"};

bool MovesAlways(const Settings& settings, const ZeroRateSteps::Optimizer& optimizer,
                 const ZeroRateSteps::Parameter& parameter) {
  const auto steps = static_cast<int64_t>(optimizer.steps.size());
  return static_cast<double>(steps) >= settings[kSteps] && parameter.steps == steps &&
         parameter.smallest > settings[kTimes] * parameter.resolution;
}

bool Falls(const Settings& settings, const IfSeen<LearningRates>& rates, int ordinal) {
  if (!rates) return false;
  const auto found = rates->optimizers.find(ordinal);
  if (found == rates->optimizers.end() || found->second.highest.empty()) return false;
  return found->second.highest.rbegin()->second <= settings[kFallen] * found->second.peak;
}

std::string Message(const ZeroRateSteps::Optimizer& optimizer, const ZeroRateSteps::Parameter& most,
                    size_t moving) {
  constexpr std::string_view kHow[] = {" shrinks by ", " moves by ", " grows by "};
  return StrCat("With every learning rate at 0, ", moving, " of ",
                Counted(static_cast<int64_t>(optimizer.compared), "parameter"), " of ",
                optimizer.name, " still change in each of ", optimizer.steps.size(), " steps, ",
                optimizer.between_steps ? "between the calls of" : "inside of",
                " its step(): ", most.name, kHow[most.growth + 1], Short(most.smallest),
                " of its size or more at a time.");
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const During<kZeroRate, ZeroRateSteps>& run,
                              const IfSeen<LearningRates>& rates) {
  Verdict verdict{
      .findings = {},
      .judged = Counted(static_cast<int64_t>(run->optimizers.size()), "optimizer") + " at rate 0"};
  for (const auto& [ordinal, optimizer] : run->optimizers) {
    std::vector<Place> places;
    const ZeroRateSteps::Parameter* most = nullptr;
    bool grows_or_shrinks = false;
    for (const ZeroRateSteps::Parameter& parameter : optimizer.moved) {
      if (!MovesAlways(settings, optimizer, parameter)) continue;
      places.push_back({.thing = parameter.name, .file = ""});
      grows_or_shrinks = grows_or_shrinks || parameter.growth != 0;
      if (most == nullptr || parameter.smallest > most->smallest) most = &parameter;
    }
    if (most == nullptr) continue;
    const bool may_be_noise = optimizer.drawn > 0 && !grows_or_shrinks;
    const bool harms = Falls(settings, rates, ordinal) && !may_be_noise;
    verdict.findings.push_back({.severity = harms ? Severity::kWarning : Severity::kNote,
                                .message = Message(optimizer, *most, places.size()),
                                .places = std::move(places),
                                .first_step = optimizer.steps.front(),
                                .last_step = optimizer.steps.back(),
                                .count = static_cast<int64_t>(optimizer.steps.size()),
                                .measured = most->smallest,
                                .bound = settings[kTimes] * most->resolution});
  }
  return verdict;
}

// A run whose rate falls, and one at rate 0 in which a parameter moves by `share` in so many steps.
Evidence AtZero(double share, int steps) {
  RunBuilder plain = TwoLayers();
  for (int step = 0; step < 8; ++step) {
    plain.Quantity(Quantity::kLearningRate, "group", "optimizer#0/group#0", 0.1 / (1 + step));
    AddStep(plain, {.held = {}});
  }
  RunBuilder zero = TwoLayers();
  for (int step = 0; step < 8; ++step) {
    zero.Quantity(Quantity::kRestedParameters, "optimizer", "", 4, 0);
    if (step < steps) {
      zero.Quantity(Quantity::kUnscaledChange, "parameter", "head.weight", share, 1.2e-7);
      zero.Quantity(Quantity::kUnscaledDirection, "parameter", "head.weight", -1, 0);
    }
    AddStep(zero, {.held = {}});
  }
  Evidence evidence;
  evidence.Add(kPlain, plain.Build());
  evidence.Add(kZeroRate, zero.Build());
  return evidence;
}

}  // namespace

Check UnscaledChange() {
  return {
      .id = "optimizer/unscaled_change",
      .promise = "Steps at a learning rate of 0 leave the weights as they are.",
      .why =
          "What moves them then is not scaled by the rate: as a schedule lets the rate fall, it "
          "takes over, and no schedule governs it.",
      .method =
          "The program runs again with the rate of every group at 0 while its optimizers step; "
          "after some steps, each parameter is compared with what it was a step ago.",
      .fix =
          "Scale it by the rate, as in p.mul_(1 - group['lr'] * decay); in a step() of your own, "
          "read group['lr'] at each step and keep no copy of it.",
      .limits =
          "Needs --deep and an optimizer with its rate in its groups. What comes to rest, as a "
          "largest norm does, is let pass. A note where the rate of the plain run does not fall to "
          "half, or where random numbers may be what moves the weights.",
      .sources = {"own reasoning: exact",
                  "Loshchilov and Hutter, Decoupled weight decay regularization: the schedule "
                  "scales the decay too"},
      .covers = {"O05", "S06"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kTimes, kSteps, kFallen},
      .judgement = Reads<&Judge>(),
      .examples = {{"it comes to rest", Expect::kClean, [] { return AtZero(1e-4, 7); }},
                   {"no more than rounding", Expect::kClean, [] { return AtZero(1e-6, 8); }},
                   {"in every step", Expect::kFaulty, [] { return AtZero(3e-6, 8); }}},
  };
}

}  // namespace dlcheck::optimizer
