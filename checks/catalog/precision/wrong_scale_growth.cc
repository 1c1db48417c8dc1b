#include "checks/catalog/step_finding.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss_scaling.h"

namespace dlcheck::precision {
namespace {

constexpr Setting kMostScale{.name = "most",
                             .value = 16777216,
                             .low = 1,
                             .high = 1e38,
                             .unit = "1",
                             .meaning = "scale from which on a growth may be held back",
                             .source = "NVIDIA apex: max_loss_scale is 2^24"};

struct Growth {
  int64_t step = 0;   // the first with the new scale, or that should have had it
  int64_t clean = 0;  // steps since the last growth or fall
};

struct Growths {
  std::vector<Growth> wrong;
  int64_t judged = 0;
};

// Follows the scale from step to step, as a scaler counts clean steps. Whoever is not known to
// have begun at nought (`since` < 0) is not judged until the scale moves.
Growths Follow(const LossScaling& scaling, double interval, double most) {
  Growths growths;
  int64_t since = -1;
  for (auto at = scaling.scale.begin(); at != scaling.scale.end(); ++at) {
    const int64_t step = at->first;
    const bool is_first = at == scaling.scale.begin();
    const bool follows = !is_first && std::prev(at)->first == step - 1;
    const double change = follows ? at->second - std::prev(at)->second : 0;
    const int64_t clean = step - since;
    const bool is_due = since >= 0 && static_cast<double>(clean) == interval;
    if (is_first && step == 0) since = 0;
    if (!is_first && !follows) since = -1;
    if (change > 0 && since >= 0 && static_cast<double>(clean) <= interval) {
      ++growths.judged;
      if (!is_due) growths.wrong.push_back({step, clean});
    } else if (follows && change == 0 && is_due && at->second > 0 && 2 * at->second < most) {
      ++growths.judged;
      growths.wrong.push_back({step, clean});
    }
    if (change != 0) since = step;
    if (scaling.IsUnclear(step)) since = -1;
  }
  return growths;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossScaling& scaling) {
  const double interval = scaling.declared_interval;
  if (interval <= 0) return absl::FailedPreconditionError("no growth interval is declared");
  if (scaling.optimizers != 1) return SeveralOptimizers();
  const Growths growths = Follow(scaling, interval, settings[kMostScale]);
  if (growths.judged == 0) {
    return absl::NotFoundError(StrCat("the loss scale was never ", interval, " clean steps old"));
  }
  Verdict verdict{.findings = {}, .judged = Counted(growths.judged, "interval")};
  if (growths.wrong.empty()) return verdict;
  const Growth& first = growths.wrong.front();
  const bool early = static_cast<double>(first.clean) < interval;
  std::vector<int64_t> steps;
  for (const Growth& growth : growths.wrong) steps.push_back(growth.step);
  verdict.findings.push_back(FindingOver(
      steps, Severity::kError,
      StrCat("The loss scale ", early ? "grew at step " : "had not grown at step ", first.step,
             ", ", Counted(first.clean, "clean step"), " after it last moved, where one growth ",
             "after each ", interval, " is declared; so in ", steps.size(), " of ",
             Counted(growths.judged, "interval"), "."),
      {}, static_cast<double>(first.clean), interval));
  return verdict;
}

// A fall after step 1, then a growth before step `growth`; four clean steps are declared.
Evidence GrowingAt(int growth) {
  RunBuilder run = TwoLayers();
  run.Process("declared.growth-interval", "4");
  for (int step = 0; step < 9; ++step) {
    const double scale = step < 2 ? 1024 : (step < growth ? 512 : 1024);
    run.Quantity(Quantity::kLossScale, "scaler", "scaler", scale);
    BeginStep(run);
    run.Event(Event::kUnscale, scale);
    EndStep(run, {.nonfinite = step == 1 ? 3.0 : 0.0, .taken = step != 1});
  }
  return PlainOnly(run);
}

}  // namespace

Check WrongScaleGrowth() {
  return {
      .id = "precision/wrong_scale_growth",
      .promise = "The loss scale grows after as many clean steps in a row as is declared.",
      .why =
          "A scale that grows too early overflows more often, and each overflow costs a step; one "
          "that grows too late lets small gradients vanish in fp16.",
      .method =
          "The scale of every step, sampled or not: steps between one change of it and the next "
          "growth, against the declared interval. A fall is a step that was not clean.",
      .fix =
          "Reset the count of clean steps when a step is left out and when the scale grows, and "
          "let the scale grow once the count has reached the interval.",
      .limits =
          "Only with the declaration growth-interval. Intervals in which state was loaded or a "
          "step was left out without a fall are not judged; nor are programs in which several "
          "optimizers step.",
      .sources = {"PyTorch documentation of torch.amp.GradScaler: growth_interval"},
      .covers = {"A09"},
      .explains = {"precision/skipped_steps"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kMostScale},
      .judgement = Reads<&Judge>(),
      .examples = {{"after four clean steps", Expect::kClean, [] { return GrowingAt(6); }},
                   {"after three", Expect::kFaulty, [] { return GrowingAt(5); }},
                   {"after five", Expect::kFaulty, [] { return GrowingAt(7); }}},
  };
}

}  // namespace dlcheck::precision
