#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/data/changed_targets.h"

namespace dlcheck::data {
namespace {

constexpr Setting kShare{.name = "share",
                         .value = 0.9,
                         .low = 0,
                         .high = 1,
                         .unit = "1",
                         .meaning = "share of repeated steps that had different targets",
                         .source = "own reasoning: occasional differences may be intentional"};

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kLimitedData, ChangedTargets>& limited) {
  Verdict verdict{.findings = {}, .judged = Counted(limited->repeated, "repeated step")};
  const double share =
      static_cast<double>(limited->changed) / static_cast<double>(limited->repeated);
  if (share < settings[kShare]) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message =
           StrCat("The same inputs came with different targets in ", limited->changed, " of ",
                  limited->repeated, " steps whose inputs equal an earlier step's bit for bit."),
       .places = {},
       .first_step = limited->first_step,
       .last_step = limited->last_step,
       .count = limited->changed,
       .measured = share,
       .bound = settings[kShare]});
  return verdict;
}

// `repeated` steps repeat the inputs of others, `changed` of them with different targets.
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
      .title = "The same inputs come with different targets",
      .promise = "The same inputs come with the same targets.",
      .why =
          "Targets that are shuffled, sorted or drawn separately from their inputs are noise. The "
          "model can memorize one batch, but nothing of that batch holds for the next one.",
      .method =
          "Runs the program again with loaders that repeat the same few batches in every pass. "
          "Compares the targets of steps whose inputs are equal bit for bit.",
      .fix =
          "Draw and shuffle inputs and targets together. Use one permutation, one index, or one "
          "random transform for image and mask.",
      .limits = {.needs = "--deep, a DataLoader, and inputs without augmentation.",
                 .silent_when = "",
                 .severity = "Always a note: targets may be random on purpose, such as label noise "
                             "or one of several answers.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for epoch in range(epochs):
    order = torch.randperm(len(x))
    loader = DataLoader(TensorDataset(x[order], y), batch_size=32))",
                 .good = R"(for epoch in range(epochs):
    order = torch.randperm(len(x))
    loader = DataLoader(TensorDataset(x[order], y[order]), batch_size=32))"},
      .cpp = {.bad = R"(auto order = torch::randperm(x.size(0));
TrainOneEpoch(model, x.index_select(0, order), y);)",
              .good = R"(auto order = torch::randperm(x.size(0));
TrainOneEpoch(model, x.index_select(0, order), y.index_select(0, order));)"},
      .sources = {"own reasoning: exact"},
      .covers = {"mispaired-targets"},
      .explains = {"learnability/no_better_than_constant"},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kUsed,
      .also_at = {Event::kFetched},
      .settings = {kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"different targets in four of five repeated steps", Expect::kClean,
                    [] { return Changing(4, 5); }},
                   {"different targets in all five", Expect::kNote, [] { return Changing(5, 5); }}},
  };
}

}  // namespace dlcheck::data
