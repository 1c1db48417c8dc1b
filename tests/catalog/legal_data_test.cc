// Programs that feed, save and measure as faults do, on purpose: no check may call them wrong. Each
// stands beside the fault that it looks like, which some check does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "checks/catalog/catalog.h"
#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/text.h"

namespace dlcheck {
namespace {

// Ids of the checks that say more than a note about the run.
std::string Complaints(const Run& run) {
  Evidence evidence;
  evidence.Add(kPlain, run);
  std::string complaints;
  for (const Check& check : Catalog()) {
    const auto verdict = check.judgement.judge(Settings(), evidence);
    if (!verdict.ok()) continue;
    for (const Finding& finding : verdict->findings) {
      if (finding.severity != Severity::kNote) StrAppend(&complaints, check.id, " ");
    }
  }
  return complaints;
}

RunBuilder Program(std::string_view order = "random", double samples = 256) {
  RunBuilder run = TwoLayers();
  run.Attribute("optimizer", "optimizer#0", "stateful", "1");
  run.Attribute("loader", "train", "order", order);
  run.Attribute("loader", "train", "samples", StrCat(samples));
  run.Attribute("loader", "train", "batch_size", "32");
  return run;
}

struct Fed {
  int place = 0;
  double fetched = 32, used = 32, batch = 0;
};

// A step on one batch of a loader.
void Feed(RunBuilder& run, const Fed& fed, const StepValues& values = {.held = {}}) {
  run.Event(Event::kFetched, fed.place, "loader", "train", fed.fetched);
  run.Event(Event::kUsed, fed.used, "model", "Net");
  run.Quantity(Quantity::kBatchFingerprint, "model", "Net", fed.batch, 7);
  AddStep(run, values);
}

struct Measured {
  std::string_view loader = "validation";
  double trained = 0;
  double loss = 1, weights = 5;
};

void Evaluate(RunBuilder& run, const Measured& values) {
  run.Event(Event::kFetched, 0, "loader", values.loader, 256);
  run.Event(Event::kEvaluationBegan, 0, "model", "Net");
  run.Quantity(Quantity::kModelDigest, "model", "Net", values.weights, 0);
  run.Event(Event::kEvaluationForward, 0, "model", "Net");
  run.Event(Event::kEvaluationEnded, 0, "model", "Net");
  run.Quantity(Quantity::kEvaluationLoss, "model", "Net", values.loss, 256);
  run.Quantity(Quantity::kTrainedRows, "model", "Net", values.trained, 256);
  run.Quantity(Quantity::kRepeatedRows, "model", "Net", 0, 256);
  run.Quantity(Quantity::kEvaluationFingerprint, "model", "Net", 3, 4);
}

// Sixteen steps on the first batch of an iteration that is made anew for each.
Run FirstBatches(double used) {
  RunBuilder run = Program("sequential");
  for (int step = 0; step < 16; ++step) Feed(run, {.used = used});
  return run.Build();
}

TEST(LegalData, AWholeGraphIsTheInputOfEveryStep) {
  EXPECT_EQ(Complaints(FirstBatches(2708)), "");
  EXPECT_EQ(Complaints(FirstBatches(32)), "data/repeated_batch ");
}

// Sixteen steps on batches of two that are fed as one row, with losses of this kind, some after a
// batch of another loader.
Run OneRow(std::string_view kind, int others_each = 16) {
  RunBuilder run = Program();
  run.Attribute("loss", "cross_entropy", "kind", kind);
  for (int step = 0; step < 16; ++step) {
    if (step % others_each == 0) run.Event(Event::kFetched, 0, "loader", "validation", 2);
    Feed(run, {.place = step % 8, .fetched = 2, .used = 1, .batch = step + 0.0},
         {.loss_samples = 1, .held = {}});
  }
  return run.Build();
}

TEST(LegalData, TimeComesFirstInARegressionOfSequencesOfOne) {
  EXPECT_EQ(Complaints(OneRow("mse")), "");
  EXPECT_EQ(Complaints(OneRow("cross_entropy")), "data/lost_batch_dimension ");
}

TEST(LegalData, BatchesOfTwoLoadersAreOneSampleOfEach) {
  EXPECT_EQ(Complaints(OneRow("cross_entropy", 1)), "");
  EXPECT_EQ(Complaints(OneRow("cross_entropy", 4)), "data/lost_batch_dimension ");
}

// Epochs of eight batches; after each an evaluation that knows so many of its rows.
Run Epochs(const std::vector<Measured>& evaluations, double samples = 256, int optimizers = 1) {
  RunBuilder run = Program("random", samples);
  double batch = 0;
  for (int i = -1; i < static_cast<int>(evaluations.size()); ++i) {
    if (i >= 0) Evaluate(run, evaluations[static_cast<size_t>(i)]);
    for (int place = 0; place < 8; ++place) Feed(run, {.place = place, .batch = ++batch});
    for (int j = 1; j < optimizers; ++j) {
      run.Event(Event::kStep, 0, "optimizer", StrCat("optimizer#", j));
    }
  }
  return run.Build();
}

TEST(LegalData, AnEvaluationOfTrainingDataKnowsMoreAndMoreRows) {
  const Measured first{.trained = 160}, second{.trained = 220};
  EXPECT_EQ(Complaints(Epochs({first, second})), "");
  EXPECT_EQ(Complaints(Epochs({first, first})), "data/train_eval_overlap ");
}

TEST(LegalData, OnlyAPartOfTheTrainingDataWasInSampledSteps) {
  const Measured part{.trained = 64};
  EXPECT_EQ(Complaints(Epochs({part, part}, 300)), "");
  EXPECT_EQ(Complaints(Epochs({part, part}, 256)), "data/train_eval_overlap ");
}

TEST(LegalData, AnotherFoldHasAnotherOptimizerAndWasTrainedOnTheseRows) {
  const Measured part{.trained = 64};
  EXPECT_EQ(Complaints(Epochs({part, part}, 256, 2)), "");
}

TEST(LegalData, TheTrainingLoaderIsEvaluatedToo) {
  const Measured part{.loader = "train", .trained = 64};
  EXPECT_EQ(Complaints(Epochs({part, part})), "");
}

// Two evaluations in a row of a model with dropout in training mode; then one more step.
Run EvaluatedTwice(double second_weights) {
  RunBuilder run = Program();
  for (int step = 0; step < 8; ++step) Feed(run, {.place = step, .batch = step + 0.0});
  Evaluate(run, {.loss = 1});
  Evaluate(run, {.loss = 1.1, .weights = second_weights});
  return run.Build();
}

// Findings of any severity: those of an evaluation that draws are notes.
bool Says(const Run& run, std::string_view id) {
  Evidence evidence;
  evidence.Add(kPlain, run);
  const auto verdict = FindCheck(id)->judgement.judge(Settings(), evidence);
  return verdict.ok() && !verdict->findings.empty();
}

TEST(LegalData, AnAverageIsEvaluatedAfterTheWeights) {
  EXPECT_FALSE(Says(EvaluatedTwice(6), "evaluation/nondeterministic"));
  EXPECT_TRUE(Says(EvaluatedTwice(5), "evaluation/nondeterministic"));
}

// A file with model and optimizer, of which the model is put in.
Run Resumed(double share, bool frozen, int model = 0) {
  RunBuilder run = Program();
  run.Attribute("file", "old.pt", "contents", "model optimizer other");
  if (frozen) run.Attribute("parameter", "trunk.weight", "requires_grad", "0");
  run.Event(Event::kLoaded, 0, "file", "old.pt").Event(Event::kLoaded, 0, "model", "Net");
  run.Ordinal(model).Quantity(Quantity::kLoadedShare, "model", "Net", share, 0).Ordinal(0);
  for (int step = 0; step < 8; ++step) Feed(run, {.place = step, .batch = step + 0.0});
  return run.Build();
}

TEST(LegalData, FineTuningTakesTheModelAloneOutOfACheckpoint) {
  EXPECT_EQ(Complaints(Resumed(0.9, false)), "");
  EXPECT_EQ(Complaints(Resumed(1, true)), "");
  EXPECT_EQ(Complaints(Resumed(1, false)), "checkpoint/state_not_restored ");
}

TEST(LegalData, ATeacherComesOutOfACheckpoint) { EXPECT_EQ(Complaints(Resumed(1, false, 1)), ""); }

// Goes back to a file that it wrote, into a model that trained or into another.
Run GoesBack(std::string_view model) {
  RunBuilder run = Program();
  run.Attribute("file", "last.pt", "contents", "model optimizer other");
  for (int step = 0; step < 16; ++step) {
    Feed(run, {.place = step % 8, .batch = step + 0.0});
    if (step == 4) run.Event(Event::kSaved, 0, "file", "last.pt");
    if (step != 8) continue;
    run.Event(Event::kLoaded, 0, "file", "last.pt").Event(Event::kLoaded, 0, "model", model);
  }
  return run.Build();
}

TEST(LegalData, ACopyOfTheModelIsMadeThroughAFile) {
  EXPECT_FALSE(Says(GoesBack("Copy"), "checkpoint/state_not_restored"));
  EXPECT_TRUE(Says(GoesBack("Net"), "checkpoint/state_not_restored"));
  EXPECT_EQ(Complaints(GoesBack("Net")), "");
}

// Resident memory that grows by 2 MiB a step, with or without a loader that ran eight times.
Run Growing(bool loader) {
  RunBuilder run = TwoLayers();
  if (loader) run.Attribute("loader", "train", "samples", "384");
  if (loader) run.Attribute("loader", "train", "batch_size", "32");
  for (int step = 0; step < 96; ++step) {
    if (loader) run.Event(Event::kFetched, step % 12, "loader", "train", 32);
    run.Quantity(Quantity::kResidentMemory, "optimizer", "optimizer#0", 4e8 + step * 2097152.0);
    AddStep(run, {.held = {}});
  }
  return run.Build();
}

TEST(LegalData, AReplayBufferFillsUp) {
  EXPECT_EQ(Complaints(Growing(false)), "");
  EXPECT_EQ(Complaints(Growing(true)), "performance/memory_growth ");
}

// What is said of a file that is put back into a model in the middle of a run, whose optimizer
// after that is the one of before or another.
std::string SaidOfLoad(std::string_view optimizer_after) {
  RunBuilder run = Program();
  run.Attribute("optimizer", "optimizer#1", "stateful", "1");
  run.Attribute("file", "best.pt", "contents", "model optimizer");
  for (int step = 0; step < 8; ++step) {
    run.Event(Event::kUsed, 32, "model", "Net");
    if (step == 4) {
      run.Event(Event::kLoaded, 0, "file", "best.pt").Event(Event::kLoaded, 0, "model", "Net");
    }
    run.Event(Event::kStep, 0, "optimizer", step < 4 ? "optimizer#0" : optimizer_after);
  }
  Evidence evidence;
  evidence.Add(kPlain, run.Build());
  for (const Check& check : Catalog()) {
    if (check.id != "checkpoint/state_not_restored") continue;
    const auto verdict = check.judgement.judge(Settings(), evidence);
    return verdict.ok() && !verdict->findings.empty() ? verdict->findings.front().message : "";
  }
  return "";
}

TEST(LegalData, WhoseOptimizerFollowsALoadIsSaidAsItIs) {
  EXPECT_THAT(SaidOfLoad("optimizer#0"), testing::HasSubstr("with the earlier state"));
  EXPECT_THAT(SaidOfLoad("optimizer#1"), testing::HasSubstr("with new state"));
}

// A gradient that moves when the samples of a batch change places, in a step that cuts the batch
// into parts; or fetches them as batches of their own, in which no sample then changes its
// neighbors.
absl::StatusOr<Verdict> Dealt(bool is_cut) {
  RunBuilder held;
  held.Process("held_order", "random").Process("held_window", "2 parts");
  if (is_cut) held.Process("held_cut", "1");
  for (int step = 0; step < 4; ++step) AddStep(held, {.held = {}});
  held.Quantity(Quantity::kOrderSensitivity, "optimizer", "", 0.05, 2e-7);
  held.Quantity(Quantity::kMixedWindow, "optimizer", "", 0.05, 2e-7);
  held.Quantity(Quantity::kBentWindow, "optimizer", "", 0.05, 1);
  Evidence evidence;
  evidence.Add(kPlain, TwoLayers().Build());
  evidence.Add(kFixedBatch, held.Build());
  const auto check = std::ranges::find(Catalog(), "data/order_dependence", &Check::id);
  return check->judgement.judge(Settings(), evidence);
}

TEST(LegalData, BatchNormSeesThePartsThatABatchIsCutInto) {
  EXPECT_TRUE(absl::IsFailedPrecondition(Dealt(true).status()));
  ASSERT_TRUE(Dealt(false).ok());
  EXPECT_EQ(Dealt(false)->findings.size(), 1);
}

}  // namespace
}  // namespace dlcheck
