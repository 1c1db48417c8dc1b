#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/trial_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::attention {
namespace {

// Largest share of the positions that the model keeps apart in a trial; 0 if not known.
double Separation(const Sensitivities& tried) {
  double most = 0;
  for (const Sensitivities::Trial& trial : tried.separation.trials) {
    most = std::max(most, trial.share);
  }
  return most;
}

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kTrials, Sensitivities>& tried) {
  absl::StatusOr<Verdict> verdict = JudgeTrials(
      settings, tried->documents,
      {.before = "When other documents of a row change, outputs at the documents that stay of ",
       .nothing = "no model was seen to be given documents that share a row",
       .severity = Severity::kNote});
  if (!verdict.ok() || verdict->findings.empty()) return verdict;
  Finding& finding = verdict->findings.front();
  const double apart = Separation(*tried);
  if (tried->declared_documents == "apart") {
    finding.severity = Severity::kError;
    StrAppend(&finding.message, " They are declared to be apart.");
  } else if (apart > 0) {
    finding.severity = Severity::kWarning;
    StrAppend(&finding.message, " It keeps ", Short(100 * apart),
              " % of their positions apart, so that this is no choice.");
  } else if (tried->declared_documents == "together") {
    verdict->findings.clear();
  }
  return verdict;
}

// A trial in which outputs move, and a share of the positions is kept apart (below 0: unknown).
Evidence Crossed(double share, double apart, std::string_view declared = "") {
  RunBuilder trial;
  if (!declared.empty()) trial.Process("declared.documents", declared);
  AddStep(trial, {.held = {}});
  if (apart >= 0) trial.Quantity(Quantity::kDocumentSeparation, "model", "Gpt", apart, 3);
  trial.Quantity(Quantity::kDocumentSensitivity, "model", "Gpt", share, 0);
  AddStep(trial, {.held = {}});
  Evidence evidence;
  evidence.Add(kPlain, TwoLayers().Build());
  evidence.Add(kTrials, trial.Build());
  return evidence;
}

}  // namespace

Check CrossDocumentAttention() {
  return {
      .id = "attention/cross_document_attention",
      .promise = "Documents that are packed into one row do not see each other.",
      .why =
          "The model learns to use text that happens to stand beside, which is not there when it "
          "is used.",
      .method =
          "Some of the documents of each row get other tokens, and the outputs at the others are "
          "compared with those from before, in evaluation mode on a copy of the model; then again "
          "with each row marked as one document.",
      .fix =
          "Build the mask from the documents (equal numbers, and not later), and give it to every "
          "layer; or use a kernel that takes cumulative lengths.",
      .limits =
          "Needs --deep and an input that marks documents: positions that begin again at 0, "
          "numbers that count up to three or more, cumulative lengths. A warning where marks keep "
          "some positions apart and not others; a note where they keep none, as places in "
          "sentences do; an error once `documents` is declared apart. Silent where positions "
          "begin again after equal stretches, and where other numbers give other outputs. "
          "Measured in float32: 7e-6 of the row's mean, added to each position, is still caught.",
      .sources = {"own reasoning: an exact test"},
      .covers = {"T12"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kTimes, kFloor},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"as much as rounding explains", Expect::kClean, [] { return Crossed(1e-6, -1); }},
           {"ten times as much", Expect::kFaulty, [] { return Crossed(1e-5, 0); }},
           {"in some positions and not in others", Expect::kFaulty,
            [] { return Crossed(1e-5, 0.1); }},
           {"meant to be together", Expect::kClean, [] { return Crossed(1e-5, 0, "together"); }},
           {"meant to be apart", Expect::kFaulty, [] { return Crossed(1e-5, -1, "apart"); }}},
  };
}

}  // namespace dlcheck::attention
