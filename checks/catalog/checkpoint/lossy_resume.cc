#include <algorithm>
#include <optional>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/signals/program_state.h"

namespace dlcheck::checkpoint {
namespace {

using Parts = ProgramState::Parts;
using Losses = std::vector<ProgramState::Loss>;
using Repetition = IfSeen<During<kSameSeed, ProgramState>>;

std::string PartsStory(const std::vector<std::string>& names, const Parts& plain,
                       const Parts& resumed) {
  std::string story = StrCat(Listed(names, 5), " (", names.size(), " of ", plain.size(),
                             " parts of its state) is not what the uninterrupted run has there");
  for (const std::string& name : names) {
    if (!resumed.contains(name)) StrAppend(&story, "; the resumed run has no ", name);
    if (!plain.contains(name)) StrAppend(&story, "; only the resumed run has ", name);
  }
  return story;
}

std::string Message(const std::string& parts, const Losses& plain, const Losses& resumed,
                    bool repeats) {
  std::string message = StrCat("A run that was interrupted after ", kResumed.at_step,
                               " steps and resumed goes on as another: ", parts);
  if (const std::optional<size_t> at = FirstDifference(plain, resumed)) {
    if (parts.empty()) message += "all parts of its state are equal, but something is not in it";
    StrAppend(&message, "; the loss of step ", kResumed.at_step + plain[*at].step, " is ",
              Short(resumed[*at].value), " instead of ", Short(plain[*at].value));
  }
  if (!repeats) message += "; whether two runs with one seed agree was not tested";
  return message + ".";
}

// Takes out the parts that differ in two uninterrupted runs too: they say nothing.
void LeaveOutUnsteady(const Parts& first, const Parts& second, std::vector<std::string>& names) {
  const std::vector<std::string> unsteady = DifferingParts(first, second);
  std::erase_if(names, [&](const std::string& name) {
    return std::find(unsteady.begin(), unsteady.end(), name) != unsteady.end();
  });
}

// Whether two runs of the same may be expected to agree.
absl::Status Comparable(const ProgramState& plain, const Repetition& second) {
  if (plain.loaded && !(second && second->loaded)) {
    return absl::FailedPreconditionError("the plain run itself went on from saved state");
  }
  const bool repeats = !second || !FirstDifference(plain.LossesFrom(0, kSameSeed.steps),
                                                   second->LossesFrom(0, kSameSeed.steps));
  if (repeats && plain.nondeterministic.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError("two uninterrupted runs with one seed differ already");
}

absl::StatusOr<Verdict> Judge(const Settings&, const ProgramState& plain,
                              const During<kResumed, ProgramState>& resumed,
                              const Repetition& second) {
  const Parts* there = plain.PartsAt(kResumed.at_step);
  const Parts* here = resumed->PartsAt(0);
  if (there == nullptr || here == nullptr) {
    return absl::NotFoundError(
        StrCat("the state before step ", kResumed.at_step, " was not recorded in both runs"));
  }
  DLCHECK_RETURN_IF_ERROR(Comparable(plain, second));
  std::vector<std::string> names = DifferingParts(*there, *here);
  const Parts* again = second ? second->PartsAt(kResumed.at_step) : nullptr;
  if (again != nullptr) LeaveOutUnsteady(*there, *again, names);
  const Losses expected = plain.LossesFrom(kResumed.at_step, kResumed.steps);
  const Losses got = resumed->LossesFrom(0, kResumed.steps);
  Verdict verdict{
      .findings = {},
      .judged = StrCat(
          Counted(static_cast<int64_t>(there->size()), "part"), " of the state, ",
          Counted(static_cast<int64_t>(std::min(expected.size(), got.size())), "backward call"))};
  if (names.empty() && !FirstDifference(expected, got)) return verdict;
  std::vector<Place> places;
  for (const std::string& name : names) places.push_back({.thing = name, .file = ""});
  const std::string parts = names.empty() ? "" : PartsStory(names, *there, *here);
  verdict.findings.push_back({.severity = again != nullptr ? Severity::kError : Severity::kWarning,
                              .message = Message(parts, expected, got, again != nullptr),
                              .places = std::move(places),
                              .first_step = kResumed.at_step,
                              .last_step = kResumed.at_step + kResumed.steps - 1,
                              .count = static_cast<int64_t>(names.size()),
                              .measured = static_cast<double>(names.size()),
                              .bound = 0});
  return verdict;
}

// Four steps from `step` on, where the optimizer's moments have the digest `moments`.
Run FourSteps(int64_t step, double moments, double loss) {
  RunBuilder run;
  run.Resume(step);
  run.Quantity(Quantity::kStateDigest, "state", "model", 11, 12);
  run.Quantity(Quantity::kStateDigest, "state", "optimizer/first", 13, moments);
  for (int i = 0; i < 4; ++i) AddStep(run, {.loss = i == 3 ? loss : 2.3, .held = {}});
  return run.Build();
}

// Another uninterrupted run has `again` where the first has 14.
Evidence Resumed(double moments, double loss, double again) {
  Evidence evidence;
  evidence.Add(kPlain, FourSteps(kResumed.at_step, 14, 2.3));
  evidence.Add(kResumed, FourSteps(0, moments, loss));
  evidence.Add(kSameSeed, FourSteps(kResumed.at_step, again, 2.3));
  return evidence;
}

}  // namespace

Check LossyResume() {
  return {
      .id = "checkpoint/lossy_resume",
      .promise = "A run that is interrupted and resumed goes on, bit for bit, as if it were not.",
      .why =
          "What is not in the checkpoint begins anew: moments, rates, averages, the order of the "
          "data; the loss jumps, or data are seen twice.",
      .method =
          "The program is interrupted after 32 steps and resumed in another process; digests of the "
          "parts of its state and the next 32 losses are compared with the plain run, bit by bit.",
      .fix =
          "Save and load the named parts too; where all are equal, look for what is nowhere in the "
          "state: the position in the data, a generator, a buffer that is not registered.",
      .limits =
          "Needs a program that takes part in the experiment and shows its state. A part that "
          "differs between two uninterrupted runs with one seed is left out; where their losses "
          "differ nothing is judged. Only step 32 is tried.",
      .sources = {"PyTorch notes on reproducibility", "own reasoning"},
      .covers = {"K01", "K02", "K03", "K05", "K06", "K09", "K10"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLoaded,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"all is back", Expect::kClean, [] { return Resumed(14, 2.3, 14); }},
                   {"a part that no two runs agree on", Expect::kClean,
                    [] { return Resumed(15, 2.3, 16); }},
                   {"the moments are not", Expect::kFaulty, [] { return Resumed(15, 2.3, 14); }},
                   {"all is back, but one loss is another", Expect::kFaulty,
                    [] { return Resumed(14, 2.3 + 4.5e-16, 14); }}},
  };
}

}  // namespace dlcheck::checkpoint
