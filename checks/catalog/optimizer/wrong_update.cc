#include <algorithm>
#include <set>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/update_errors.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kTimes{.name = "times",
                         .value = 16,
                         .low = 1,
                         .high = 1e9,
                         .unit = "times what rounding explains",
                         .meaning = "error of an update that counts, added to `floor`",
                         .source =
                             "measured: at most 1.0 in 3,846 updates of sgd, adam and adamw in "
                             "fp32, bf16 and under fp16 scaling; 17,000 and more in eight faults"};
constexpr Setting kFloor{.name = "floor",
                         .value = 1e-3,
                         .low = 0,
                         .high = 1,
                         .unit = "of the rule's update",
                         .meaning = "error of an update that counts, added to `times`",
                         .source = "numbers of a rule kept in float32: 1 - 0.999 is off by 6e-5"};
constexpr Setting kSteps{.name = "steps",
                         .value = 3,
                         .low = 1,
                         .high = 1e6,
                         .unit = "steps",
                         .meaning =
                             "steps with such an update that make an error; two will do among the "
                             "first eight, where a wrong bias correction shows and then fades",
                         .source = "own reasoning: less is a note"};
constexpr int64_t kFirstSteps = 8;
constexpr size_t kEnoughFirst = 2;

struct Worst {
  std::string name;
  Sample sample;
};

std::string Message(const UpdateErrors& errors, const std::set<int64_t>& steps, size_t parameters,
                    const Worst& worst) {
  return StrCat("At ", steps.size(), " of ",
                Counted(static_cast<int64_t>(errors.steps.size()), "step"),
                " that were worked out again, ", parameters, " of ",
                Counted(static_cast<int64_t>(errors.parameters.size()), "parameter"),
                " did not go where the rule of their optimizer takes them: ", worst.name,
                " is off by ", Short(worst.sample.value), " of the rule's update at step ",
                worst.sample.step, ", of which rounding explains ", Short(worst.sample.aux), ".");
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

// The trunk's updates are off by `error` in steps `from` on, where rounding explains 1e-5.
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
      .promise =
          "A step moves every parameter to where the declared rule of its optimizer takes it.",
      .why =
          "The training is that of another optimizer than the one that was asked for, and numbers "
          "chosen for that one do not hold.",
      .method =
          "sgd, adam or adamw is worked out again in float64 from weights, gradients and state "
          "before the step, with the numbers that the optimizer declares; the difference to what "
          "the step did is compared with what rounding explains.",
      .fix =
          "Compare the step with the rule, term by term: epsilon outside the root, bias correction "
          "from step 1, decay beside the gradient for AdamW, beta1 and beta2 in their places.",
      .limits =
          "Needs an optimizer that declares its rule and shows its state (Probe::Rule), without "
          "amsgrad, maximize or dampening. Steps of a "
          "fused optimizer that divides by the loss scale itself are left out. Large models are "
          "looked at a part at a time.",
      .sources = {"Kingma and Ba 2015", "Loshchilov and Hutter 2019",
                  "measured: 14 healthy runs, 8 planted faults"},
      .covers = {"O05", "O06", "O08", "O09", "B04"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kTimes, kFloor, kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"ten times what rounding explains", Expect::kClean,
                    [] { return OffBy(1e-4, 0); }},
                   {"a hundredth of the update", Expect::kFaulty, [] { return OffBy(1e-2, 0); }},
                   {"in the last steps alone", Expect::kFaulty, [] { return OffBy(1e-2, 13); }}},
  };
}

}  // namespace dlcheck::optimizer
