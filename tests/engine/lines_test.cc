#include "checks/engine/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "checks/engine/experiment.h"

namespace dlcheck {
namespace {

// A run whose steps of optimizers "a" and "b" stand in lines 10 and 20, at steps 0 to 3. At step 2
// it loads in lines 50 and 51.
class LinesTest : public testing::Test {
 protected:
  LinesTest() {
    dlcheck::Run run;
    for (int64_t step = 0; step < 4; ++step) {
      for (const char* name : {"a", "b"}) {
        const int line = (name[0] == 'a' ? 10 : 20) + static_cast<int>(step);
        run.trace.AddEvent({.event = Event::kStep,
                            .step = step,
                            .last_step = step,
                            .thing = run.trace.AddThing("parameter", 0, name),
                            .site = run.trace.AddSite({"train.py", line, "main"})});
      }
    }
    for (const int line : {50, 51}) {
      run.trace.AddEvent({.event = Event::kLoaded,
                          .step = 2,
                          .last_step = 2,
                          .thing = run.trace.AddThing("model", 0, line == 50 ? "a" : "b"),
                          .site = run.trace.AddSite({"train.py", line, "main"})});
    }
    evidence_.Add(kPlain, std::move(run));
  }

  std::vector<Place> PlacesAfter(Event event, std::vector<Place> places, int64_t first_step) {
    Finding finding{.severity = Severity::kError,
                    .message = "",
                    .places = std::move(places),
                    .first_step = first_step,
                    .last_step = 9,
                    .count = 1,
                    .measured = 0,
                    .bound = 0};
    GiveLine(evidence_, event, finding);
    return finding.places;
  }

  Evidence evidence_;
};

TEST_F(LinesTest, OfTheFirstEventInTheStepsOfTheFinding) {
  EXPECT_EQ(PlacesAfter(Event::kStep, {}, 2),
            (std::vector<Place>{{.thing = "", .file = "train.py", .line = 12}}));
}

TEST_F(LinesTest, OfTheLastEventBeforeItWhereNoneIsInIt) {
  EXPECT_EQ(PlacesAfter(Event::kStep, {}, 7).front().line, 23);
}

TEST_F(LinesTest, OfTheLastLoadInItsStep) {
  EXPECT_EQ(PlacesAfter(Event::kLoaded, {}, 0).front().line, 51);
  EXPECT_EQ(PlacesAfter(Event::kLoaded, {}, 5).front().line, 51);
  EXPECT_EQ(PlacesAfter(Event::kLoaded, {{.thing = "first batch of a", .file = ""}}, 5).back().line,
            51);
}

TEST(SchedulerLines, OfTheOneOfSeveralThatIsNamed) {
  dlcheck::Run run;
  const ThingId optimizer = run.trace.AddThing("optimizer", 0, "sgd");
  for (const int line : {5, 6}) {
    run.trace.AddEvent(
        {.event = Event::kScheduler,
         .step = 0,
         .last_step = 0,
         .thing = run.trace.AddThing("scheduler", 0, line == 5 ? "StepLR" : "LambdaLR"),
         .owner = optimizer,
         .site = run.trace.AddSite({"train.py", line, "main"})});
  }
  Evidence evidence;
  evidence.Add(kPlain, std::move(run));
  for (const auto& [name, line] :
       std::map<std::string, int>{{"StepLR of sgd", 5}, {"LambdaLR of sgd", 6}}) {
    Finding finding{.severity = Severity::kError,
                    .message = "",
                    .places = {{.thing = name, .file = ""}},
                    .first_step = 0,
                    .last_step = 9,
                    .count = 1,
                    .measured = 0,
                    .bound = 0};
    GiveLine(evidence, Event::kScheduler, finding);
    std::vector<int> lines;
    for (const Place& place : finding.places) lines.push_back(place.line);
    EXPECT_THAT(lines, testing::Contains(line));
  }
}

TEST_F(LinesTest, OfItsOwnThing) {
  const std::vector<Place> places = PlacesAfter(Event::kStep, {{.thing = "b", .file = ""}}, 1);
  EXPECT_EQ(places.front().thing, "b");
  EXPECT_EQ(places.back().line, 21);
}

TEST_F(LinesTest, AFindingWithALineKeepsIt) {
  const std::vector<Place> places{{.thing = "", .file = "own.py", .line = 1}};
  EXPECT_EQ(PlacesAfter(Event::kStep, places, 0), places);
}

TEST(Lines, OfABatchFetchedTheLineThatBuiltItsLoader) {
  dlcheck::Run run;
  const ThingId loader = run.trace.AddThing("loader", 0, "");
  run.trace.AddEvent({.event = Event::kFetched,
                      .thing = loader,
                      .site = run.trace.AddSite({"train.py", 10, "main"})});
  const auto line_of = [](const dlcheck::Run& of) {
    Evidence evidence;
    evidence.Add(kPlain, of);
    Finding finding{.severity = Severity::kError,
                    .message = "",
                    .places = {},
                    .first_step = 0,
                    .last_step = 0,
                    .count = 1,
                    .measured = 0,
                    .bound = 0};
    GiveLine(evidence, Event::kFetched, finding);
    return finding.places.front().line;
  };
  EXPECT_EQ(line_of(run), 10);
  run.trace.SetAttribute(loader, "built_file", "data.py");
  run.trace.SetAttribute(loader, "built_line", "3");
  EXPECT_EQ(line_of(run), 3);
}

TEST(Lines, OfALayerTheOneThatBuiltItComesBeforeAnotherLine) {
  const auto line_of = [](const std::string& thing) {
    return FirstPlaceAfter(Event::kModuleBuilt, "module", {"fc1", "fc2", "fc2.norm"},
                           {{.thing = thing, .file = ""}, {.thing = "", .file = "a.py", .line = 5}})
        .line;
  };
  EXPECT_EQ(line_of("fc2"), 11);
  EXPECT_EQ(line_of("fc2.weight"), 11);
  EXPECT_EQ(line_of("fc2.norm"), 12);
  EXPECT_EQ(line_of("other"), 0);
}

TEST(Lines, OfAnOptimizerThatNobodySawBuiltTheLineOfItsStep) {
  dlcheck::Run run;
  run.trace.AddEvent({.event = Event::kStep, .site = run.trace.AddSite({"train.cc", 8, "main"})});
  Evidence evidence;
  evidence.Add(kPlain, std::move(run));
  Finding finding{.severity = Severity::kError,
                  .message = "",
                  .places = {},
                  .first_step = 0,
                  .last_step = 0,
                  .count = 1,
                  .measured = 0,
                  .bound = 0};
  GiveLine(evidence, Event::kOptimizerBuilt, finding);
  EXPECT_EQ(finding.places.front().line, 8);
}

// The lines of a finding about a loss whose backward calls stand in lines 20 and 40 of train.py.
std::vector<int> LossLinesAfter(std::vector<Place> places) {
  dlcheck::Run run;
  const auto add = [&run](Event event, int line, double call) {
    run.trace.AddEvent(
        {.event = event, .site = run.trace.AddSite({"train.py", line, "main"}), .value = call});
  };
  add(Event::kBackward, 20, 0);
  add(Event::kLossComputed, 17, 20);
  add(Event::kLossComputed, 18, 20);
  add(Event::kLossComputed, 39, 40);
  Evidence evidence;
  evidence.Add(kPlain, std::move(run));
  Finding finding{.severity = Severity::kError,
                  .message = "",
                  .places = std::move(places),
                  .first_step = 0,
                  .last_step = 0,
                  .count = 1,
                  .measured = 0,
                  .bound = 0};
  GiveLine(evidence, Event::kLossComputed, finding);
  std::vector<int> lines;
  for (const Place& place : finding.places) lines.push_back(place.line);
  return lines;
}

TEST(Lines, ThoseThatComputeALossGoBeforeTheLineOfItsOwnBackward) {
  EXPECT_EQ(LossLinesAfter({}), (std::vector{17, 18, 20}));
  EXPECT_EQ(LossLinesAfter({{.thing = "", .file = "train.py", .line = 40}}), (std::vector{39, 40}));
  EXPECT_EQ(LossLinesAfter({{.thing = "", .file = "other.py", .line = 20}}), (std::vector{20}));
}

TEST(Lines, OfASchedulerTheLineThatBuiltTheOneOfItsOptimizer) {
  dlcheck::Run run;
  for (const int ordinal : {0, 1}) {
    const ThingId optimizer = run.trace.AddThing("optimizer", ordinal, "");
    run.trace.AddEvent({.event = Event::kScheduler,
                        .thing = run.trace.AddThing("scheduler", ordinal, "StepLR"),
                        .owner = optimizer,
                        .site = run.trace.AddSite({"train.py", 30 + ordinal, "main"})});
  }
  Evidence evidence;
  evidence.Add(kPlain, std::move(run));
  Finding finding{.severity = Severity::kError,
                  .message = "",
                  .places = {{.thing = "StepLR of optimizer#1", .file = ""}},
                  .first_step = 0,
                  .last_step = 0,
                  .count = 1,
                  .measured = 0,
                  .bound = 0};
  GiveLine(evidence, Event::kScheduler, finding);
  EXPECT_EQ(finding.places.front().line, 31);
}

TEST_F(LinesTest, NoneWhereNoSuchEventWasRecorded) {
  EXPECT_TRUE(PlacesAfter(Event::kSaved, {}, 0).empty());
}

}  // namespace
}  // namespace dlcheck
