#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/changed_targets.h"

namespace dlcheck::data {
namespace {

constexpr Setting kShare{.name = "share",
                         .value = 0.9,
                         .low = 0,
                         .high = 1,
                         .unit = "of the repeated steps",
                         .meaning = "that have other targets than before",
                         .source = "own reasoning: what happens now and then may be meant"};

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kLimitedData, ChangedTargets>& limited) {
  Verdict verdict{.findings = {}, .judged = Counted(limited->repeated, "repeated step")};
  const double share =
      static_cast<double>(limited->changed) / static_cast<double>(limited->repeated);
  if (share < settings[kShare]) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat("The same inputs come with other targets each time: in ", limited->changed,
                         " of ", limited->repeated,
                         " steps whose inputs are bit for bit those of an earlier one."),
       .places = {},
       .first_step = limited->first_step,
       .last_step = limited->last_step,
       .count = limited->changed,
       .measured = share,
       .bound = settings[kShare]});
  return verdict;
}

// Steps that repeat the inputs of others, so many of them with other targets.
Evidence Changing(int changed, int repeated) {
  RunBuilder run;
  for (int i = 0; i < repeated; ++i) {
    AddStep(run, {.held = {}});
    run.Quantity(Quantity::kChangedTargets, "process", "", i < changed ? 1 : 0, 1);
  }
  Evidence evidence;
  evidence.Add(kPlain, TwoLayers().Build());
  evidence.Add(kLimitedData, run.Build());
  return evidence;
}

}  // namespace

Check InconsistentTargets() {
  return {
      .id = "data/inconsistent_targets",
      .promise = "The same inputs come with the same targets.",
      .why =
          "Targets that are shuffled, sorted or drawn apart from their inputs are noise: one batch "
          "can be learnt by heart, and nothing of it holds for the next.",
      .method =
          "The program runs again with loaders that hand out the same few batches of the same "
          "samples in every pass; targets are compared where inputs are equal bit for bit.",
      .fix =
          "Draw and shuffle inputs and targets together: one permutation for both, one index for "
          "both, one random transform for picture and mask.",
      .limits =
          "Needs --deep, a DataLoader, and inputs that are not augmented. A note, as a program "
          "may draw targets on purpose: label noise, one of several answers.",
      .sources = {"own reasoning: exact"},
      .covers = {"D04"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"in four of five", Expect::kClean, [] { return Changing(4, 5); }},
                   {"in all five", Expect::kFaulty, [] { return Changing(5, 5); }}},
  };
}

}  // namespace dlcheck::data
