#include <algorithm>
#include <cmath>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss/loss_curve.h"

namespace dlcheck::learnability {
namespace {

constexpr Setting kNothing{
    .name = "nothing",
    .value = 0.995,
    .low = 0.5,
    .high = 2,
    .unit = "fraction",
    .meaning =
        "loss with inputs over loss without, above which the model learns nothing from its inputs",
    .source =
        "measured: 1.000 +- 0.002 with random labels in 40 runs, 0.98 with a very weak signal"};
constexpr Setting kLittle{
    .name = "little",
    .value = 0.9,
    .low = 0.1,
    .high = 2,
    .unit = "fraction",
    .meaning = "loss with inputs over loss without, above which the check gives a note",
    .source = "measured: 0.18 strong, 0.56 medium, 0.88 weak signal"};
constexpr size_t kLate = 25;          // losses behind each median
constexpr double kFittedBlind = 0.1;  // share of its first loss that a run on mean inputs may reach

using Sighted = During<kReference, LossCurve>;
using Blind = During<kMeanInputs, LossCurve>;

// Equal bit for bit: the inputs do not reach the loss.
bool AreEqual(const LossCurve& a, const LossCurve& b) {
  return std::ranges::equal(a.points, b.points, [](const auto& one, const auto& other) {
    return one.step == other.step && one.loss == other.loss;
  });
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Sighted& sighted, const Blind& blind,
                              const IfSeen<During<kReferenceLonger, LossCurve>>& sighted_longer,
                              const IfSeen<During<kMeanInputsLonger, LossCurve>>& blind_longer) {
  const auto points = static_cast<int64_t>(std::min(sighted->points.size(), blind->points.size()));
  const bool extended = sighted_longer && blind_longer;
  const LossCurve& with = extended ? *sighted_longer : *sighted;
  const LossCurve& without = extended ? *blind_longer : *blind;
  const double late_with = with.LateMedian(kLate);
  const double late_without = without.LateMedian(kLate);
  if (with.loaded != without.loaded) {
    return absl::FailedPreconditionError(
        "one of the two runs started from the saved state of another run");
  }
  if (with.optimizers > 1) {
    return absl::FailedPreconditionError("several optimizers step, possibly of different models");
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
           StrCat("The model learned ", nothing ? "nothing" : "little", " from its inputs: after ",
                  with.points.size(), " steps with a reference optimizer (Adam), the loss was ",
                  Short(late_with), ", against ", Short(late_without),
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
  for (const Experiment& experiment :
       {kReference, kReferenceLonger, kMeanInputs, kMeanInputsLonger}) {
    const bool blind = experiment.name == Experiment::Name::kMeanInputs;
    evidence.Add(experiment,
                 LossesOnly(FallingLosses(static_cast<int>(experiment.steps), blind ? 2.2 : loss)));
  }
  return evidence;
}

}  // namespace

Check InputIndependence() {
  return {
      .id = "learnability/input_independence",
      .title = "The model learns nothing from its inputs",
      .promise = "A model trains better with its inputs than without them.",
      .why =
          "Otherwise the model learns only the frequency of the targets. Inputs are lost on the "
          "way, or do not belong to their targets.",
      .method =
          "Runs the program twice with Adam at 1e-3 in the same data order. The second run "
          "replaces every input by the mean input. Compares the medians of the last 25 losses of "
          "both runs. Both runs are extended before a finding.",
      .fix =
          "Print one batch before model(x). Check that inputs differ and that row i of y belongs "
          "to row i of x. Usual causes are a shuffle of only one of them, or zeroed inputs.",
      .limits = {.needs = "--deep, one optimizer, and losses known in both runs.",
                 .silent_when = "The targets can be met without inputs.",
                 .severity = "Error only if the losses with and without inputs are identical. If "
                             "nothing is learned, warning for classes. Note for other targets, "
                             "whose signal may be weak, and for losses with further terms.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(x = (x - x.mean()) / x.std()
x = x.to(torch.uint8)  # almost all values become 0
logits = model(x.float()))",
                 .good = R"(x = (x - x.mean()) / x.std()
logits = model(x)
loss = criterion(logits, y))"},
      .cpp = {.bad = R"(x = (x - x.mean()) / x.std();
x = x.to(torch::kByte);  // almost all values become 0
auto logits = model->forward(x.to(torch::kFloat));)",
              .good = R"(x = (x - x.mean()) / x.std();
auto logits = model->forward(x);)"},
      .sources =
          {"Karpathy 2019, A Recipe for Training Neural Networks: input-independent baseline",
           "measured: five strengths of signal, 40 runs with random labels"},
      .covers = {"unnormalized-inputs", "double-normalization"},
      .explains = {"learnability/cannot_overfit_one_batch", "learnability/no_better_than_constant"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kNothing, kLittle},
      .judgement = Reads<&Judge>(),
      .examples = {{"a weak signal", Expect::kClean, [] { return LearnsTo(1.95); }},
                   {"hardly any signal", Expect::kNote, [] { return LearnsTo(2.05); }},
                   {"no signal", Expect::kError, [] { return LearnsTo(2.2); }}},
  };
}

}  // namespace dlcheck::learnability
