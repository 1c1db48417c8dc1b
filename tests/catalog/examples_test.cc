// Every check's examples give what they claim, and no check speaks about another's clean example.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "checks/catalog/catalog.h"
#include "checks/engine/text.h"

namespace dlcheck {
namespace {

absl::StatusOr<Verdict> Judged(const Check& check, const Evidence& evidence,
                               const Settings& settings = Settings()) {
  return check.judgement.judge(settings, evidence);
}

Expect WorstOf(const Verdict& verdict) {
  Expect worst = Expect::kClean;
  for (const Finding& finding : verdict.findings) {
    const Expect as = finding.severity == Severity::kError     ? Expect::kError
                      : finding.severity == Severity::kWarning ? Expect::kWarning
                                                               : Expect::kNote;
    worst = std::max(worst, as);
  }
  return worst;
}

TEST(Examples, GiveWhatTheyClaim) {
  for (const Check& check : Catalog()) {
    int clean = 0, faulty = 0;
    for (const Example& example : check.examples) {
      const Evidence evidence = example.evidence();
      const auto verdict = Judged(check, evidence, Settings(example.settings));
      ASSERT_TRUE(verdict.ok()) << check.id << ", " << example.title << ": " << verdict.status();
      ++(example.expect == Expect::kClean ? clean : faulty);
      EXPECT_EQ(WorstOf(*verdict), example.expect) << check.id << ", " << example.title;
      for (const Finding& finding : verdict->findings) {
        EXPECT_LE(finding.severity, check.worst) << check.id;
        EXPECT_TRUE(finding.message.ends_with(".")) << finding.message;
      }
    }
    EXPECT_GE(clean, 1) << check.id;
    EXPECT_GE(faulty, 1) << check.id;
  }
}

// What every example makes its check say, a line for each finding: what users will read.
std::string FindingsOfExamples() {
  std::string text;
  for (const Check& check : Catalog()) {
    StrAppend(&text, check.id, ": ", check.title, "\n");
    for (const Example& example : check.examples) {
      const Evidence evidence = example.evidence();
      const auto verdict = Judged(check, evidence, Settings(example.settings));
      if (!verdict.ok() || verdict->findings.empty()) continue;
      StrAppend(&text, "  ", example.title, "\n");
      for (const Finding& finding : verdict->findings) {
        StrAppend(&text, "    ", SeverityName(finding.severity), ": ", finding.message);
        for (const Place& place : finding.places) {
          StrAppend(&text, " @", place.thing, place.file.empty() ? "" : StrCat(" ", place.file));
        }
        StrAppend(&text, "\n");
      }
    }
  }
  return text;
}

std::string FirstDifference(const std::string& committed, const std::string& now) {
  std::stringstream old_lines(committed), new_lines(now);
  std::string old_line, new_line;
  while (std::getline(old_lines, old_line) && std::getline(new_lines, new_line)) {
    if (old_line != new_line) return StrCat("- ", old_line, "\n+ ", new_line);
  }
  return "one ends before the other";
}

TEST(Examples, SayWhatTheGoldenHolds) {
  const std::string path = DLCHECK_SOURCE_DIR "/tests/golden/findings.txt";
  const std::string text = FindingsOfExamples();
  if (std::getenv("DLCHECK_UPDATE_GOLDENS") != nullptr) std::ofstream(path) << text;
  std::stringstream committed;
  committed << std::ifstream(path).rdbuf();
  // Both whole would fill the screen: the lines up to the first that differs are enough.
  EXPECT_TRUE(text == committed.str())
      << "read the difference, then DLCHECK_UPDATE_GOLDENS=1; the first is\n"
      << FirstDifference(committed.str(), text);
}

TEST(Examples, OfAStepThatIsNotScaledWarnOnlyWhereTwoRatesEndAtTheSameBits) {
  for (const Check& check : Catalog()) {
    if (check.id != "optimizer/lr_independent_update") continue;
    std::vector<Severity> severities;
    for (const Example& example : check.examples) {
      const Evidence evidence = example.evidence();
      const auto verdict = Judged(check, evidence);
      for (const Finding& finding : verdict->findings) {
        severities.push_back(finding.severity);
        EXPECT_EQ(finding.severity == Severity::kWarning,
                  example.title == "the same bits at any learning rate")
            << example.title;
      }
    }
    EXPECT_THAT(severities, testing::UnorderedElementsAre(Severity::kWarning, Severity::kNote));
  }
}

TEST(Examples, AreSilentUnderEveryOtherCheckWhereClean) {
  for (const Check& owner : Catalog()) {
    for (const Example& example : owner.examples) {
      if (example.expect != Expect::kClean) continue;
      const Evidence evidence = example.evidence();
      for (const Check& check : Catalog()) {
        const auto verdict = Judged(check, evidence);
        if (!verdict.ok()) continue;
        for (const Finding& finding : verdict->findings) {
          EXPECT_EQ(finding.severity, Severity::kNote)
              << check.id << " on " << owner.id << ", " << example.title << ": " << finding.message;
        }
      }
    }
  }
}

TEST(Examples, NoCheckIsBrokenByEmptyEvidence) {
  const Evidence nothing;
  for (const Check& check : Catalog()) {
    const auto verdict = Judged(check, nothing);
    ASSERT_FALSE(verdict.ok()) << check.id;
    EXPECT_TRUE(absl::IsFailedPrecondition(verdict.status())) << check.id;
  }
}

TEST(Examples, ARunWithoutRecordsBreaksNoCheck) {
  for (const Check& check : Catalog()) {
    Evidence empty;
    for (const Need& need : check.judgement.needs) {
      if (!empty.Knows(need.experiment)) {
        empty.Add(need.experiment, dlcheck::Run{Trace(), {Ending::How::kFinished, 0}});
      }
    }
    const auto verdict = Judged(check, empty);
    EXPECT_TRUE(verdict.ok() || absl::IsNotFound(verdict.status())) << check.id;
  }
}

}  // namespace
}  // namespace dlcheck
