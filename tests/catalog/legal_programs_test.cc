// Programs that do on purpose what faults do by mistake: no check may call them wrong. Each is
// written as the Python probe records it.
#include <gtest/gtest.h>

#include <string>

#include "checks/catalog/catalog.h"
#include "checks/engine/text.h"
#include "tests/catalog/program.h"

namespace dlcheck {
namespace {

// What checks say about the run that is more than a note, one line each.
std::string Complaints(const RunBuilder& run) {
  Evidence evidence;
  evidence.Add(kPlain, run.Build());
  std::string complaints;
  for (const Check& check : Catalog()) {
    const auto verdict = check.judgement.judge(Settings(), evidence);
    if (!verdict.ok()) continue;
    for (const Finding& finding : verdict->findings) {
      if (finding.severity == Severity::kNote) continue;
      StrAppend(&complaints, check.id, ": ", finding.message, "\n");
    }
  }
  return complaints;
}

TEST(LegalProgram, AGeneratorAndItsCriticTakeTurns) {
  Program program;
  program.Model(0).Model(1);
  program.run().Ordinal(1).Attribute("module", "layer", "mode_dependent", "1").Ordinal(0);
  for (int i = 0; i < 20; ++i) {
    program.Clear(0).Watch(1, 1).Forward(0).Backward("bce").Forward(0).Backward("bce").Step(0);
    program.Clear(1).Forward(1).Forward(0).Backward("bce").Step(1);
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, TheCriticsGradientsAreClearedBetweenTheGeneratorsBackwardAndItsStep) {
  Program program;
  program.Model(0).Model(1);
  for (int i = 0; i < 20; ++i) {
    program.Clear(1).Forward(1).Forward(0).Backward("bce").Clear(0).Step(1);
    program.Forward(0).Backward("bce").Step(0);
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

// Its windows are shorter than those of the generator, and are no tails of them.
TEST(LegalProgram, ACriticTakesFewerMicroBatchesThanItsGenerator) {
  Program program;
  program.Model(0).Model(1);
  for (int i = 0; i < 40; ++i) {
    program.Clear(0);
    for (int j = 0; j < 4; ++j) program.Forward(0).Backward("bce", 0.25);
    program.Step(0).Clear(1);
    for (int j = 0; j < 2; ++j) program.Forward(1).Backward("bce", 0.25);
    program.Step(1);
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, BothBackwardCallsComeBeforeBothSteps) {
  Program program;
  program.Model(0).Model(1);
  for (int i = 0; i < 20; ++i) {
    program.Clear(0).Clear(1).Forward(0).Forward(1).Backward("bce").Backward("mse_loss");
    program.Step(0, 0.1).Step(1, 0.1);
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, AClosureIsCalledSeveralTimesInEachStep) {
  Program program;
  program.Model(0, "LBFGS");
  program.run().Process("declared.accumulation", "mean");
  for (int i = 0; i < 12; ++i) {
    for (int call = 0; call < 4; ++call) program.Clear(0).Forward(0).Backward();
    program.Step(0);
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, TwoLossesHaveABackwardCallEach) {
  Program program;
  program.Model(0);
  program.run().Process("declared.accumulation", "mean");
  for (int i = 0; i < 12; ++i) {
    program.Clear(0).Forward(0).Backward("cross_entropy").Backward("mse_loss").Step(0);
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, TheLastWindowOfAnEpochIsShortAndItsLastBatchSmall) {
  Program program;
  program.Model(0);
  for (int step = 0; step < 60; ++step) {
    const int calls = step % 10 == 9 ? 3 : 4;
    program.Clear(0);
    for (int call = 0; call < calls; ++call) {
      const bool is_last = step % 10 == 9 && call == 2;
      program.Forward(0).Backward("cross_entropy", 0.25, is_last ? 8 : 32);
    }
    program.Step(0);
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, TheLastBatchOfAnEpochIsSmall) {
  Program program;
  program.Model(0);
  for (int step = 0; step < 60; ++step) {
    program.Clear(0);
    for (int call = 0; call < 4; ++call) {
      const bool is_last = step % 10 == 9 && call == 3;
      program.Forward(0).Backward("cross_entropy", 0.25, is_last ? 8 : 32);
    }
    program.Step(0);
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, GradientsOfSingleSamplesAreClippedAndKeptElsewhere) {
  Program program;
  program.Model(0);
  for (int i = 0; i < 12; ++i) {
    for (int sample = 0; sample < 4; ++sample) {
      program.Forward(0).Backward().At(0, Event::kClip, "clip", "norm", 1, 2);
    }
    program.Step(0, 0.4);
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, AGraphNetIsEvaluatedAfterEachOfItsSteps) {
  Program program;
  program.Model(0, "Adam");
  program.run().Attribute("module", "layer", "mode_dependent", "1");
  for (int i = 0; i < 30; ++i) {
    program.Clear(0).Forward(0).Backward().Step(0).Watch(0, 0, 1);
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, SamplesAreDrawnInTrainingModeNowAndThen) {
  Program program;
  program.Model(0);
  program.run().Attribute("module", "layer", "mode_dependent", "1");
  for (int i = 0; i < 40; ++i) {
    program.Clear(0).Forward(0).Backward().Step(0);
    if (i % 10 == 9) program.Watch(0, 1);
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, AnAttackIsMadeInEvaluationModeBeforeEachStep) {
  Program program;
  program.Model(0);
  program.run().Attribute("module", "layer", "mode_dependent", "1");
  for (int i = 0; i < 20; ++i) {
    // A module's first forward of a step is recorded, here that of the attack.
    const bool attacks = i >= 5;
    if (i == 5) program.Watch(0, 0, 0, 4);
    if (attacks) program.At(0, Event::kMode, "model", "Net", 0);
    program.Forward(0, attacks ? 0 : 1);
    if (attacks) program.At(0, Event::kMode, "model", "Net", 1);
    program.Clear(0).Backward().Step(0);
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, AModelThatWasTrainedIsTheTeacherOfAnother) {
  Program program;
  program.Model(0).Model(1);
  program.run().Attribute("module", "layer", "mode_dependent", "1");
  for (int i = 0; i < 12; ++i) program.Clear(0).Forward(0).Backward().Step(0);
  program.Watch(0, 0, 0, 4);
  for (int i = 0; i < 12; ++i) program.Clear(1).Forward(0, 0).Forward(1).Backward().Step(1);
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, DropoutMasksAreDrawnAtTheEnd) {
  Program program;
  program.Model(0);
  program.run().Attribute("module", "layer", "mode_dependent", "1");
  for (int i = 0; i < 30; ++i) program.Clear(0).Forward(0).Backward().Step(0);
  program.Watch(0, 1, 0, 20);
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, AnOptimizerOfTheProgramNeedsNoGradients) {
  Program program;
  program.Model(0, "Spsa");
  for (int step = 0; step < 16; ++step) {
    program.Forward(0, 0);
    program.At(0, Event::kStep, "optimizer", "");
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, FoldsHaveAModelAndAnOptimizerEach) {
  Program program;
  for (int fold = 0; fold < 20; ++fold) {
    program.Model(fold, "Adam");
    for (int i = 0; i < 3; ++i) program.Clear(fold).Forward(fold).Backward().Step(fold);
    program.Watch(fold, 0);
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, CopiesOfAModelAreAdaptedToOneTaskEach) {
  Program program;
  program.Model(0);
  for (int task = 1; task < 30; ++task) {
    program.Model(task, "Adam").Forward(task).Backward().Step(task);
    program.Clear(0).Forward(0).Backward().Step(0);
  }
  for (int task = 30; task < 60; ++task) {
    program.Model(task, "Adam").Forward(task).Backward().Step(task);
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, TheLossOfTheNewWeightsIsWorkedOutAfterEachStep) {
  Program program;
  program.Model(0);
  program.run().Attribute("module", "layer", "mode_dependent", "1");
  for (int i = 0; i < 30; ++i) {
    program.Clear(0).Forward(0).Backward().Step(0);
    program.Watch(0, 1, 0, 1, true);
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, AWarmUpFromZeroIsSteppedOnceBeforeTheLoop) {
  Program program;
  program.Model(0);
  const auto move = [&program](int i) {
    program.Rate(0.001 * i).run().Owner("optimizer", "");
    program.At(0, Event::kSchedule, "scheduler", "LambdaLR", 0.001 * i, i);
  };
  program.run().Owner("optimizer", "");
  program.At(0, Event::kScheduler, "scheduler", "LambdaLR");
  move(1);
  for (int i = 0; i < 60; ++i) {
    program.Clear(0).Forward(0).Backward().Step(0);
    move(i + 2);
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

TEST(LegalProgram, ASchedulerThatEndsAtZeroIsMovedOnceInAnEpoch) {
  Program program;
  program.Model(0);
  program.run().Owner("optimizer", "");
  program.At(0, Event::kScheduler, "scheduler", "CosineAnnealingLR", 6, 1);
  for (int i = 0; i < 60; ++i) {
    program.Clear(0).Forward(0).Backward().Step(0);
    if (i % 10 != 9) continue;
    const double rate = 0.01 * (50 - i + 9) / 60;
    program.Rate(rate).run().Owner("optimizer", "");
    program.At(0, Event::kSchedule, "scheduler", "CosineAnnealingLR", rate, (i + 1) / 10);
  }
  EXPECT_EQ(Complaints(program.run()), "");
}

}  // namespace
}  // namespace dlcheck
