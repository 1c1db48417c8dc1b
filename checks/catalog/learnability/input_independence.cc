#include <algorithm>
#include <cmath>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss_curve.h"

namespace dlcheck::learnability {
namespace {

constexpr Setting kNothing{.name = "nothing",
                           .value = 0.995,
                           .low = 0.5,
                           .high = 2,
                           .unit = "fraction",
                           .meaning =
                               "loss with inputs over loss without above which nothing is "
                               "learned from them",
                           .source =
                               "measured: 1.000 +- 0.002 with random labels in 40 runs, 0.98 "
                               "with a very weak signal"};
constexpr Setting kLittle{.name = "little",
                          .value = 0.9,
                          .low = 0.1,
                          .high = 2,
                          .unit = "fraction",
                          .meaning = "the same for a note",
                          .source = "measured: 0.18 strong, 0.56 medium, 0.88 weak signal"};
constexpr size_t kLate = 25;          // losses behind each median
constexpr double kFittedBlind = 0.1;  // share of its first loss that a blind run may be left with

using Sighted = During<kReference, LossCurve>;
using Blind = During<kBlind, LossCurve>;

// Bit for bit: the inputs reach nothing.
bool AreEqual(const LossCurve& a, const LossCurve& b) {
  return std::ranges::equal(a.points, b.points, [](const auto& one, const auto& other) {
    return one.step == other.step && one.loss == other.loss;
  });
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Sighted& sighted, const Blind& blind,
                              const IfSeen<During<kReferenceLonger, LossCurve>>& sighted_longer,
                              const IfSeen<During<kBlindLonger, LossCurve>>& blind_longer) {
  const auto points = static_cast<int64_t>(std::min(sighted->points.size(), blind->points.size()));
  const bool extended = sighted_longer && blind_longer;
  const LossCurve& with = extended ? *sighted_longer : *sighted;
  const LossCurve& without = extended ? *blind_longer : *blind;
  const double late_with = with.LateMedian(kLate);
  const double late_without = without.LateMedian(kLate);
  if (with.loaded != without.loaded) {
    return absl::FailedPreconditionError("one of the two runs began from what another had saved");
  }
  if (with.optimizers > 1) {
    return absl::FailedPreconditionError("several optimizers step, of models that may differ");
  }
  if (!std::isfinite(late_with) || !std::isfinite(late_without)) {
    return absl::FailedPreconditionError("the losses are not finite");
  }
  if (late_without <= kFittedBlind * without.points.front().loss) {
    return absl::FailedPreconditionError("the targets can be met without any input");
  }
  const double ratio = late_with / late_without;
  Verdict verdict{
      .findings = {},
      .judged = StrCat("two runs of ", Counted(static_cast<int64_t>(with.points.size()), "step"))};
  if (ratio <= settings[kLittle]) return verdict;
  if (points < kReference.steps) {
    return absl::NotFoundError(StrCat("the program made only ", points, " of ", kReference.steps,
                                      " steps with and without its inputs"));
  }
  const bool nothing = ratio > settings[kNothing];
  Severity severity = Severity::kNote;
  if (nothing && with.doubt.empty() && with.kind != "mse") severity = Severity::kWarning;
  if (AreEqual(with, without) && with.samples > 1) severity = Severity::kError;
  verdict.findings.push_back(
      {.severity = severity,
       .message =
           StrCat("The model learns ", nothing ? "nothing" : "little", " from its inputs: after ",
                  with.points.size(), " steps with a reference optimizer its loss is ",
                  Short(late_with), ", and ", Short(late_without),
                  " with every input replaced by the mean (ratio ", Short(ratio), ")."),
       .places = {},
       .first_step = 0,
       .last_step = static_cast<int64_t>(with.points.size()) - 1,
       .count = 1,
       .measured = ratio,
       .bound = settings[nothing ? kNothing : kLittle]});
  return verdict;
}

Evidence LearnsTo(double loss) {
  Evidence evidence;
  for (const Experiment& experiment : {kReference, kReferenceLonger, kBlind, kBlindLonger}) {
    const bool blind = experiment.name == Experiment::Name::kBlind;
    evidence.Add(experiment,
                 LossesOnly(FallingLosses(static_cast<int>(experiment.steps), blind ? 2.2 : loss)));
  }
  return evidence;
}

}  // namespace

Check InputIndependence() {
  return {
      .id = "learnability/input_independence",
      .promise = "A model trains better with its inputs than without them.",
      .why =
          "If it does not, what it learns is the frequency of the targets: inputs are lost on the "
          "way, or do not belong to their targets.",
      .method =
          "Two runs with Adam at 1e-3 in the same order of data, one with every input replaced "
          "by the mean input; ratio of the medians of their last 25 losses. Before a finding "
          "both runs are made longer.",
      .fix =
          "Print one batch just before model(x): are the inputs all alike, and does row i of y "
          "belong to row i of x? A shuffle of only one of them, or zeroed inputs, are the usual "
          "causes.",
      .limits =
          "An error only where the losses with and without inputs are the same numbers. Where "
          "nothing is learned of them a warning for classes, and a note for other targets, whose "
          "signal may be weak, and for losses with further terms. Targets that can be met without "
          "inputs, and several optimizers, are not judged.",
      .sources =
          {"Karpathy 2019, A Recipe for Training Neural Networks: input-independent baseline",
           "measured: five strengths of signal, 40 runs with random labels"},
      .covers = {"D01", "D02"},
      .explains = {"learnability/cannot_overfit_one_batch"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kNothing, kLittle},
      .judgement = Reads<&Judge>(),
      .examples = {{"a weak signal", Expect::kClean, [] { return LearnsTo(1.95); }},
                   {"hardly any signal", Expect::kFaulty, [] { return LearnsTo(2.05); }},
                   {"no signal", Expect::kFaulty, [] { return LearnsTo(2.2); }}},
  };
}

}  // namespace dlcheck::learnability
