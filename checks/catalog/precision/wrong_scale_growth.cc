#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/precision/loss_scaling.h"

namespace dlcheck::precision {
namespace {

constexpr Setting kMostScale{.name = "most",
                             .value = 16777216,
                             .low = 1,
                             .high = 1e38,
                             .unit = "1",
                             .meaning = "scale from which on a scaler may stop growing",
                             .source = "NVIDIA apex: max_loss_scale is 2^24"};

struct Growth {
  int64_t step = 0;   // the first with the new scale, or that should have had it
  int64_t clean = 0;  // steps since the last growth or fall
};

struct Growths {
  std::vector<Growth> wrong;
  int64_t judged = 0;
};

// Follows the scale from step to step, as a scaler counts steps without overflow. A count that may
// not start at 0 (`since` < 0) is not judged until the scale changes.
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
    return absl::NotFoundError(
        StrCat("the loss scale never stayed for ", interval, " steps without overflow"));
  }
  Verdict verdict{.findings = {}, .judged = Counted(growths.judged, "growth interval")};
  if (growths.wrong.empty()) return verdict;
  const Growth& first = growths.wrong.front();
  const bool early = static_cast<double>(first.clean) < interval;
  std::vector<int64_t> steps;
  for (const Growth& growth : growths.wrong) steps.push_back(growth.step);
  verdict.findings.push_back(FindingOver(
      steps, Severity::kError,
      StrCat("The loss scale ", early ? "grew at step " : "had not grown at step ", first.step,
             ", ", Counted(first.clean, "step"),
             " after its last change, but the declared growth interval is ", interval, ". ",
             "Wrong growth intervals: ", steps.size(), " of ", growths.judged, "."),
      {}, static_cast<double>(first.clean), interval));
  return verdict;
}

// A fall after step 1, then a growth before step `growth`; the declared interval is four steps.
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
      .title = "The loss scale grows at the wrong interval",
      .promise =
          "The loss scale grows after the declared number of consecutive steps without overflow.",
      .why =
          "A scale that grows too early overflows more often, and each overflow costs a step. A "
          "scale that grows too late lets small gradients underflow in fp16.",
      .method =
          "Follows the scale at every step, sampled or not. Compares the number of steps between a "
          "change of the scale and its next growth with the declared growth interval. A falling "
          "scale marks an overflow.",
      .fix =
          "Reset the counter of successful steps when a step is skipped and when the scale grows. "
          "Grow the scale when the counter reaches the interval.",
      .limits = {.needs = "The declaration growth-interval and one optimizer.",
                 .silent_when = "State was loaded in the interval, or a step was skipped without a "
                                "fall of the scale. Several optimizers step.",
                 .severity = "",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(if overflow:
    scale *= 0.5
else:
    good_steps += 1
    if good_steps % growth_interval == 0:  # not reset after an overflow
        scale *= 2.0)",
                 .good = R"(if overflow:
    scale, good_steps = scale * 0.5, 0
else:
    good_steps += 1
    if good_steps == growth_interval:
        scale, good_steps = scale * 2.0, 0)"},
      .cpp = {},
      .sources = {"PyTorch documentation of torch.amp.GradScaler: growth_interval"},
      .covers = {"wrong-unscale-timing"},
      .explains = {"precision/skipped_steps"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kScalerBuilt,
      .settings = {kMostScale},
      .judgement = Reads<&Judge>(),
      .examples = {{"growth after four steps", Expect::kClean, [] { return GrowingAt(6); }},
                   {"growth after three steps", Expect::kError, [] { return GrowingAt(5); }},
                   {"growth after five steps", Expect::kError, [] { return GrowingAt(7); }}},
  };
}

}  // namespace dlcheck::precision
