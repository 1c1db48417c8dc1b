#include <algorithm>
#include <limits>
#include <map>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/loss_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::data {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 4,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps at which targets were counted",
                         .source = "own reasoning: one batch may hold nothing to learn"};

constexpr Setting kFew{.name = "few",
                       .value = 0.01,
                       .low = 0,
                       .high = 1,
                       .unit = "1",
                       .meaning = "share of counted targets below which it is noted",
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

// Adds what is to be said of one function, if anything.
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
  const std::string of_all = StrCat(" of ", Counted(static_cast<int64_t>(steps.size()), "step"));
  const auto report = [&](Severity severity, const std::string& message, double measured,
                          double bound) {
    verdict.findings.push_back(
        LossFinding(function, severity, message, function.counted, measured, bound));
  };
  if (most == 0) {
    report(Severity::kError,
           StrCat(function.name, " ignored every target in all", of_all, " that were looked at (",
                  steps.begin()->second.all, " in the first): nothing can be learned."),
           0, 1);
  } else if (broken > 0) {
    report(Severity::kWarning,
           StrCat(function.name, " ignored every target in ", without, of_all, ", and in ", broken,
                  " of them the loss was not finite: a mean over no targets."),
           static_cast<double>(broken), 0);
  } else if (most < few) {
    report(Severity::kNote,
           StrCat(function.name, " counted at most ", Short(100 * most), " % of its targets in any",
                  of_all, " that were looked at and ignored the others."),
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
        StrCat("the targets of no loss were counted in ", settings[kSteps], " sampled steps"));
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
      .promise = "A loss counts some of the targets it is given.",
      .why =
          "A loss whose targets are all ignored is zero, or 0/0: nothing is learned from the "
          "batch, "
          "or NaN spreads to all weights.",
      .method = "Targets that are not ignore_index, counted in every sampled step.",
      .fix =
          "Look at ignore_index and at what masks the targets: a prompt that fills the whole "
          "sequence, a truncation that cuts the answer off, padding with a class that is real.",
      .limits =
          "Batches without a target are legal one by one; they are a warning where the loss was "
          "not finite at such a step. Fewer than a hundredth always is a note.",
      .sources = {"PyTorch documentation of torch.nn.CrossEntropyLoss: ignore_index",
                  "own reasoning"},
      .covers = {"D06"},
      .explains = {"learnability/input_independence", "learnability/cannot_overfit_one_batch",
                   "numerics/nonfinite_values"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kSteps, kFew},
      .judgement = Reads<&Judge>(),
      .examples = {{"one target in the last step", Expect::kClean,
                    [] { return LastStep(1, 2.3, 0); }},
                   {"no target in any step", Expect::kFaulty, [] { return LastStep(0, 2.3, 0); }},
                   {"no target in one step, and a loss", Expect::kClean,
                    [] { return LastStep(0, 0); }},
                   {"no target in one step, and NaN", Expect::kFaulty,
                    [] { return LastStep(0, std::numeric_limits<double>::quiet_NaN()); }}},
  };
}

}  // namespace dlcheck::data
