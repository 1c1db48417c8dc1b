#include <algorithm>
#include <set>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizer/update_errors.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kTimes{.name = "times",
                         .value = 16,
                         .low = 1,
                         .high = 1e9,
                         .unit = "times the rounding error",
                         .meaning = "smallest update error that counts, added to `floor`",
                         .source =
                             "measured: at most 1.0 in 3,846 updates of sgd, adam and adamw in "
                             "fp32, bf16 and under fp16 scaling; 17,000 and more in eight faults"};
constexpr Setting kFloor{.name = "floor",
                         .value = 1e-3,
                         .low = 0,
                         .high = 1,
                         .unit = "of the rule's update",
                         .meaning = "smallest update error that counts, added to `times`",
                         .source = "hyperparameters kept in float32: 1 - 0.999 is off by 6e-5"};
constexpr Setting kSteps{.name = "steps",
                         .value = 3,
                         .low = 1,
                         .high = 1e6,
                         .unit = "steps",
                         .meaning =
                             "steps with a wrong update for an error; among the first eight, two "
                             "are enough, because a wrong bias correction fades",
                         .source = "own reasoning: fewer steps are a note"};
constexpr int64_t kFirstSteps = 8;
constexpr size_t kEnoughFirst = 2;

struct Worst {
  std::string name;
  Sample sample;
};

std::string Message(const UpdateErrors& errors, const std::set<int64_t>& steps, size_t parameters,
                    const Worst& worst) {
  return StrCat("In ", steps.size(), " of ",
                Counted(static_cast<int64_t>(errors.steps.size()), "recomputed step"), ", ",
                parameters, " of ",
                Counted(static_cast<int64_t>(errors.parameters.size()), "parameter"),
                " differed from the rule of their optimizer. The update of ", worst.name,
                " was off by ", Short(worst.sample.value), " of its size at step ",
                worst.sample.step, " (rounding explains ", Short(worst.sample.aux), ").");
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const UpdateErrors& errors) {
  Verdict verdict{
      .findings = {},
      .judged = StrCat(Counted(static_cast<int64_t>(errors.parameters.size()), "parameter"), ", ",
                       Counted(static_cast<int64_t>(errors.steps.size()), "step"))};
  std::set<int64_t> steps;
  std::vector<Place> places;
  Worst worst;
  for (const UpdateErrors::Parameter& parameter : errors.parameters) {
    bool any = false;
    for (const Sample& sample : parameter.errors) {
      if (!(sample.value > settings[kTimes] * sample.aux + settings[kFloor])) continue;
      any = true;
      steps.insert(sample.step);
      if (sample.value > worst.sample.value) worst = {parameter.name, sample};
    }
    if (any) places.push_back({.thing = parameter.name, .file = ""});
  }
  if (steps.empty()) return verdict;
  const auto first =
      static_cast<size_t>(std::distance(steps.begin(), steps.lower_bound(kFirstSteps)));
  const bool persists =
      static_cast<double>(steps.size()) >= settings[kSteps] || first >= kEnoughFirst;
  const size_t parameters = places.size();
  verdict.findings.push_back({.severity = persists ? Severity::kError : Severity::kNote,
                              .message = Message(errors, steps, parameters, worst),
                              .places = std::move(places),
                              .first_step = *steps.begin(),
                              .last_step = *steps.rbegin(),
                              .count = static_cast<int64_t>(steps.size()),
                              .measured = worst.sample.value,
                              .bound = settings[kTimes] * worst.sample.aux + settings[kFloor]});
  return verdict;
}

// The trunk's updates are off by `error` from step `from` on; rounding explains 1e-5.
Evidence OffBy(double error, int64_t from) {
  RunBuilder run = TwoLayers();
  for (int64_t step = 0; step < 16; ++step) {
    const double value = step >= from ? error : 1e-6;
    run.Quantity(Quantity::kUpdateError, "parameter", "trunk.weight", value, 1e-5);
    run.Quantity(Quantity::kUpdateError, "parameter", "head.weight", 1e-6, 1e-5);
    AddStep(run, {.held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check WrongUpdate() {
  return {
      .id = "optimizer/wrong_update",
      .title = "The update differs from the optimizer's rule",
      .promise = "Every step updates every parameter by the declared rule of its optimizer.",
      .why =
          "The model trains with a different optimizer than the declared one, so hyperparameters "
          "chosen for that rule do not hold.",
      .method =
          "Recomputes SGD, Adam or AdamW in float64 from the weights, gradients and state before "
          "the step, with the declared hyperparameters. Compares the difference from the real step "
          "with rounding error.",
      .fix =
          "Compare step() with the rule, term by term: eps outside the root and bias correction "
          "from step 1. Check AdamW's decoupled decay and the places of beta1 and beta2.",
      .limits = {.needs = "An optimizer that declares its rule and exposes its state "
                          "(Probe::Rule), without amsgrad, maximize or dampening.",
                 .silent_when =
                     "Steps of a fused optimizer that unscales gradients itself are skipped.",
                 .severity = "Error if it persists: from three steps on, or two among the first "
                             "eight. Otherwise note.",
                 .blind_spots =
                     "In large models, each check covers only part of the parameters at a time.",
                 .sensitivity = ""},
      .python = {.bad = R"(exp_avg.lerp_(grad, 1 - beta2)  # beta1 and beta2 are swapped
exp_avg_sq.mul_(beta1).addcmul_(grad, grad, value=1 - beta1)
denom = (exp_avg_sq / bias_correction2).sqrt().add_(eps)
p.addcdiv_(exp_avg / bias_correction1, denom, value=-lr))",
                 .good = R"(exp_avg.lerp_(grad, 1 - beta1)
exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
denom = (exp_avg_sq / bias_correction2).sqrt().add_(eps)
p.addcdiv_(exp_avg / bias_correction1, denom, value=-lr))"},
      .cpp = {.bad = R"(exp_avg.mul_(beta2).add_(grad, 1 - beta2);  // beta1 and beta2 are swapped
exp_avg_sq.mul_(beta1).addcmul_(grad, grad, 1 - beta1);)",
              .good = R"(exp_avg.mul_(beta1).add_(grad, 1 - beta1);
exp_avg_sq.mul_(beta2).addcmul_(grad, grad, 1 - beta2);)"},
      .sources = {"Kingma and Ba 2015", "Loshchilov and Hutter 2019",
                  "measured: 14 healthy runs, 8 planted faults"},
      .covers = {"wrong-weight-decay-group", "coupled-weight-decay", "unsuitable-epsilon",
                 "deviating-optimizer-formula", "cpp-optimizer-difference"},
      .explains = {"learnability/no_better_than_constant"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kTimes, kFloor, kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"ten times the rounding error", Expect::kClean, [] { return OffBy(1e-4, 0); }},
                   {"an error of 0.01 of the update", Expect::kError,
                    [] { return OffBy(1e-2, 0); }},
                   {"an error only in the last steps", Expect::kError,
                    [] { return OffBy(1e-2, 13); }}},
  };
}

}  // namespace dlcheck::optimizer
