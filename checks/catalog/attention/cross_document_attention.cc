#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/trial_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::attention {
namespace {

// Largest share of positions that the model separates in a test; 0 if not known.
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
      {.before = "With other documents of a row replaced, outputs at the unchanged documents of ",
       .nothing = "no model received documents that share a row",
       .severity = Severity::kNote});
  if (!verdict.ok() || verdict->findings.empty()) return verdict;
  Finding& finding = verdict->findings.front();
  const double apart = Separation(*tried);
  if (tried->declared_documents == "apart") {
    finding.severity = Severity::kError;
    StrAppend(&finding.message, " The program declares `documents` apart.");
  } else if (apart > 0) {
    finding.severity = Severity::kWarning;
    StrAppend(&finding.message, " The model separates ", Short(100 * apart),
              " % of the positions, so the leak is not intentional.");
  } else if (tried->declared_documents == "together") {
    verdict->findings.clear();
  }
  return verdict;
}

// A test in which outputs change, and a share of the positions is separated (below 0: unknown).
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
      .title = "Packed documents attend to each other",
      .promise = "Documents packed into one row do not see each other.",
      .why =
          "The model learns to use unrelated text next to a document. Such text is missing when "
          "the model is used.",
      .method =
          "Replaces the tokens of some documents in each row and compares the outputs at the other "
          "documents before and after. Repeats this with each row marked as one document. Uses a "
          "copy of the model in evaluation mode. Names the module in "
          "which the change begins.",
      .fix =
          "Build the mask from document ids (equal ids, and no later positions), and pass the mask "
          "to every layer. Or use a kernel that takes cumulative lengths.",
      .limits = {.needs = "--deep, and an input that marks documents. Marks are positions that "
                          "restart at 0, document ids up to at least three, or cumulative lengths.",
                 .silent_when = "Positions restart after equal lengths. Different values of the "
                                "document ids change the outputs.",
                 .severity = "Error if `documents` is declared apart. Warning if the marks "
                             "separate some positions but not others. Note if the marks separate "
                             "none, as positions within sentences do.",
                 .blind_spots = "",
                 .sensitivity =
                     "Measured in float32: finds 7e-6 of the row mean added to each position."},
      .python = {.bad = R"(mask = torch.ones(length, length, dtype=torch.bool).tril()
y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
return self.out(y))",
                 .good = R"(same = document[:, :, None] == document[:, None, :]  # batch, length
mask = same & torch.ones(length, length, dtype=torch.bool).tril()
y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None])
return self.out(y))"},
      .cpp = {},
      .sources = {"own reasoning: an exact test"},
      .covers = {"packed-documents-attend"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kTimes, kFloor},
      .judgement = Reads<&Judge>(),
      .examples = {{"a change that rounding explains", Expect::kClean,
                    [] { return Crossed(1e-6, -1); }},
                   {"a change ten times as large", Expect::kNote, [] { return Crossed(1e-5, 0); }},
                   {"some positions separated, others not", Expect::kWarning,
                    [] { return Crossed(1e-5, 0.1); }},
                   {"documents declared together", Expect::kClean,
                    [] { return Crossed(1e-5, 0, "together"); }},
                   {"documents declared apart", Expect::kError,
                    [] { return Crossed(1e-5, -1, "apart"); }}},
  };
}

}  // namespace dlcheck::attention
