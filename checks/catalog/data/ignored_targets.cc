#include <algorithm>
#include <limits>
#include <map>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/loss_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::data {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 4,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps in which targets were counted",
                         .source = "own reasoning: a single batch may have no targets"};

constexpr Setting kFew{.name = "few",
                       .value = 0.01,
                       .low = 0,
                       .high = 1,
                       .unit = "1",
                       .meaning = "share of counted targets below which the check gives a note",
                       .source = "own reasoning: masked language models count 0.15"};

struct Targets {
  double counted = 0, all = 0;
};

std::map<int64_t, Targets> ByStep(const LossFunctions::Function& function) {
  std::map<int64_t, Targets> steps;
  for (const Sample& sample : function.counted) {
    steps[sample.step].counted += sample.value;
    steps[sample.step].all += sample.aux;
  }
  return steps;
}

// Adds the findings of one loss function.
void Add(const LossFunctions& losses, const LossFunctions::Function& function, double few,
         Verdict& verdict) {
  const std::map<int64_t, Targets> steps = ByStep(function);
  int64_t without = 0, broken = 0;
  double most = 0;
  for (const auto& [step, targets] : steps) {
    if (targets.counted == 0) ++without;
    if (targets.counted == 0 && losses.nonfinite_steps.contains(step)) ++broken;
    most = std::max(most, targets.counted / std::max(1.0, targets.all));
  }
  const std::string of_all =
      StrCat(" of ", Counted(static_cast<int64_t>(steps.size()), "sampled step"));
  const auto report = [&](Severity severity, const std::string& message, double measured,
                          double bound) {
    verdict.findings.push_back(
        LossFinding(function, severity, message, function.counted, measured, bound));
  };
  if (most == 0) {
    report(Severity::kError,
           StrCat(function.name, " ignored every target in all", of_all, " (",
                  steps.begin()->second.all, " targets in the first): the model cannot learn."),
           0, 1);
  } else if (broken > 0) {
    report(Severity::kWarning,
           StrCat(function.name, " ignored every target in ", without, of_all, ". In ", broken,
                  " of these steps the loss was not finite: a mean over no targets."),
           static_cast<double>(broken), 0);
  } else if (most < few) {
    report(Severity::kNote,
           StrCat(function.name, " counted at most ", Short(100 * most), " % of its targets in any",
                  of_all, " and ignored all other targets."),
           most, few);
  }
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossFunctions& losses) {
  Verdict verdict;
  int64_t judged = 0;
  for (const LossFunctions::Function& function : losses.functions) {
    if (static_cast<double>(StepsOf(function.counted)) < settings[kSteps]) continue;
    ++judged;
    Add(losses, function, settings[kFew], verdict);
  }
  if (judged == 0) {
    return absl::NotFoundError(
        StrCat("no loss had its targets counted in ", settings[kSteps], " sampled steps"));
  }
  verdict.judged = Counted(judged, "loss function");
  return verdict;
}

// Four steps; the targets counted of 32, and the loss, are those of the last.
Evidence LastStep(double counted, double loss, double before = 32) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 4; ++step) {
    const bool last = step == 3;
    run.Quantity(Quantity::kCountedTargets, "loss", "cross_entropy", last ? counted : before, 32);
    AddStep(run, {.loss = last ? loss : 2.3, .held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check IgnoredTargets() {
  return {
      .id = "data/ignored_targets",
      .title = "The loss ignores every target",
      .promise = "Every loss counts some of the targets that it receives.",
      .why =
          "A loss whose targets are all ignored is 0 or 0/0. Either the model learns nothing from "
          "the batch, or NaN spreads to all weights.",
      .method =
          "Counts the targets of each loss that differ from ignore_index, in every sampled step.",
      .fix =
          "Check ignore_index and the code that masks the targets. Typical causes: a prompt that "
          "fills the sequence, a truncated answer, a padding index equal to a real class.",
      .limits =
          {.needs = "A loss with ignore_index, called in four sampled steps.",
           .silent_when =
               "Single batches without any counted target are healthy while the loss stays finite.",
           .severity = "Error if all targets are ignored in every step. Warning if some steps "
                       "ignore all targets and the loss is then not finite. Note if every step "
                       "counts less than a hundredth of the targets.",
           .blind_spots = "",
           .sensitivity = ""},
      .python = {.bad = R"(labels = input_ids.clone()
labels[:, :max_length] = -100  # masks the answer as well as the prompt
loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten()))",
                 .good = R"(labels = input_ids.clone()
labels[:, :prompt_length] = -100
loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten()))"},
      .cpp = {.bad = R"(auto labels = tokens.clone();
labels.slice(1, 0, max_length).fill_(-100);  // masks the answer as well as the prompt
auto loss = F::cross_entropy(logits.flatten(0, 1), labels.flatten());)",
              .good = R"(auto labels = tokens.clone();
labels.slice(1, 0, prompt_length).fill_(-100);
auto loss = F::cross_entropy(logits.flatten(0, 1), labels.flatten());)"},
      .sources = {"PyTorch documentation of torch.nn.CrossEntropyLoss: ignore_index",
                  "own reasoning"},
      .covers = {"all-targets-ignored"},
      .explains = {"gradients/missing", "learnability/input_independence",
                   "learnability/cannot_overfit_one_batch", "numerics/nonfinite_values"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kSteps, kFew},
      .judgement = Reads<&Judge>(),
      .examples = {{"one target in the last step", Expect::kClean,
                    [] { return LastStep(1, 2.3, 0); }},
                   {"no target in any step", Expect::kError, [] { return LastStep(0, 2.3, 0); }},
                   {"no target in one step, and a finite loss", Expect::kClean,
                    [] { return LastStep(0, 0); }},
                   {"no target in one step, and a NaN loss", Expect::kWarning,
                    [] { return LastStep(0, std::numeric_limits<double>::quiet_NaN()); }}},
  };
}

}  // namespace dlcheck::data
