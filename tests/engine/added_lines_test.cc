// Lines that a finding gets beside its own: where a missing call belongs, where something was
// built.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "checks/engine/experiment.h"
#include "checks/engine/lines.h"

namespace dlcheck {
namespace {

std::vector<int> LinesWith(const Evidence& evidence, Event event, std::string thing = "",
                           bool in_evaluation = false) {
  Finding finding{.severity = Severity::kError,
                  .message = "",
                  .places = {{.thing = std::move(thing), .file = "train.py", .line = 30}},
                  .first_step = 1,
                  .last_step = 1,
                  .count = 1,
                  .measured = 0,
                  .bound = 0};
  AddLine(evidence, event, in_evaluation, finding);
  std::vector<int> lines;
  for (const Place& place : finding.places) lines.push_back(place.line);
  return lines;
}

TEST(AddedLines, OfABatchFetchedAreThoseOfItsLoaderAndOfItsData) {
  dlcheck::Run run;
  const ThingId loader = run.trace.AddThing("loader", 0, "");
  run.trace.AddEvent({.event = Event::kFetched,
                      .thing = loader,
                      .site = run.trace.AddSite({"train.py", 10, "main"})});
  run.trace.SetAttribute(loader, "built_file", "train.py");
  run.trace.SetAttribute(loader, "built_line", "8");
  run.trace.SetAttribute(loader, "data_file", "data.py");
  run.trace.SetAttribute(loader, "data_line", "3");
  Evidence evidence;
  evidence.Add(kPlain, std::move(run));
  EXPECT_THAT(LinesWith(evidence, Event::kFetched), testing::ElementsAre(30, 8, 3));
}

TEST(AddedLines, OfABatchFetchedAreOfAnEvaluationWhereTheFindingIs) {
  dlcheck::Run run;
  const auto happens = [&run](Event event, int line) {
    run.trace.AddEvent({.event = event,
                        .step = 1,
                        .last_step = 1,
                        .site = run.trace.AddSite({"train.py", line, "main"})});
  };
  happens(Event::kFetched, 21);
  happens(Event::kEvaluationBegan, 20);
  happens(Event::kEvaluationForward, 22);
  happens(Event::kFetched, 10);
  happens(Event::kEvaluationEnded, 22);
  happens(Event::kStep, 11);
  Evidence evidence;
  evidence.Add(kPlain, std::move(run));
  EXPECT_THAT(LinesWith(evidence, Event::kFetched), testing::ElementsAre(30, 10));
  EXPECT_THAT(LinesWith(evidence, Event::kFetched, "", true), testing::ElementsAre(30, 21));
}

// Events of one kind, a line each, of things with these names.
Place FirstPlaceAfter(Event event, std::string_view kind, std::vector<std::string> names,
                      std::vector<Place> places) {
  dlcheck::Run run;
  for (size_t i = 0; i < names.size(); ++i) {
    run.trace.AddEvent({.event = event,
                        .thing = run.trace.AddThing(kind, 0, names[i]),
                        .site = run.trace.AddSite({"train.py", 10 + static_cast<int>(i), "main"})});
  }
  Evidence evidence;
  evidence.Add(kPlain, std::move(run));
  Finding finding{.severity = Severity::kError,
                  .message = "",
                  .places = std::move(places),
                  .first_step = 3,
                  .last_step = 3,
                  .count = 1,
                  .measured = 0,
                  .bound = 0};
  GiveLine(evidence, event, finding);
  return finding.places.front();
}

// A run that builds optimizers at `built`, evaluates in `evaluates` and trains in `trains`.
Evidence Added(std::vector<int> built, const char* evaluates, const char* trains) {
  dlcheck::Run run;
  int number = 0;
  for (const int line : built) {
    run.trace.AddEvent(
        {.event = Event::kOptimizerBuilt,
         .step = 0,
         .last_step = 0,
         .thing = run.trace.AddThing("optimizer", 0, "sgd" + std::to_string(number++)),
         .site = run.trace.AddSite({"train.py", line, "main"})});
  }
  run.trace.AddEvent({.event = Event::kStep,
                      .step = 1,
                      .last_step = 1,
                      .site = run.trace.AddSite({"train.py", 30, trains})});
  run.trace.AddEvent({.event = Event::kEvaluationBegan,
                      .step = 1,
                      .last_step = 1,
                      .site = run.trace.AddSite({"train.py", 40, evaluates})});
  Evidence evidence;
  evidence.Add(kPlain, std::move(run));
  return evidence;
}

TEST(AddedLines, StandBesideThatOfTheFinding) {
  const Evidence evidence = Added({5}, "evaluate", "train");
  EXPECT_THAT(LinesWith(evidence, Event::kOptimizerBuilt), testing::ElementsAre(30, 5));
  EXPECT_THAT(LinesWith(evidence, Event::kEvaluationBegan), testing::ElementsAre(30, 40));
}

TEST(AddedLines, AreNotToldTwice) {
  EXPECT_THAT(LinesWith(Added({5}, "evaluate", "train"), Event::kStep), testing::ElementsAre(30));
}

TEST(AddedLines, OfOneOfSeveralBuiltAreNothingUnlessTheFindingNamesIt) {
  const Evidence evidence = Added({5, 6}, "evaluate", "train");
  EXPECT_THAT(LinesWith(evidence, Event::kOptimizerBuilt), testing::ElementsAre(30));
  EXPECT_THAT(LinesWith(evidence, Event::kOptimizerBuilt, "sgd1"), testing::ElementsAre(30, 6));
}

TEST(AddedLines, OfAnEvaluationInTheTrainingFunctionAreNothing) {
  EXPECT_THAT(LinesWith(Added({5}, "main", "main"), Event::kEvaluationBegan),
              testing::ElementsAre(30));
}

}  // namespace
}  // namespace dlcheck
