// The formats of code hosts and editors: a golden each, and what strangers wrote stays text in all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "checks/engine/text.h"
#include "tests/diagnostics/small_report.h"

namespace dlcheck {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

// A report whose one check has so many findings with this message and place.
Report Many(size_t findings, const std::string& message, const std::string& file) {
  Report report;
  report.results.push_back({FindCheck("gradients/missing"), Outcome::kFailed, "", {}});
  const Finding finding =
      SmallFinding(Severity::kWarning, message, {{.thing = "", .file = file, .line = 3}});
  report.results[0].verdict.findings.assign(findings, finding);
  return report;
}

// tests/pages compares them with their schemas.
void ExpectGoldenWithSchema(const std::string& name, const std::string& text) {
  ExpectGolden(name, text);
  if (const char* folder = std::getenv("DLCHECK_PAGES")) {
    std::ofstream(StrCat(folder, "/", name)) << text;
  }
}

TEST(Sarif, MatchesItsGolden) {
  ExpectGoldenWithSchema("small.sarif", RenderSarif(SmallReport(), SmallFrame()));
}

TEST(Junit, MatchesItsGolden) {
  ExpectGoldenWithSchema("small.junit.xml", RenderJunit(SmallReport(), SmallFrame()));
}

TEST(Sarif, HasAtMostFiveThousandResults) {
  const Json json = Json::parse(RenderSarif(Many(6000, "missing", "/a.py"), SmallFrame()));
  EXPECT_EQ(json["runs"][0]["results"].size(), 5000u);
}

TEST(Sarif, WritesPathsAsUris) {
  const Frame frame{.folder = "/home/ada"};
  const auto uri = [&frame](const std::string& file) {
    const Json json = Json::parse(RenderSarif(Many(1, "missing", file), frame));
    const Json& place = json["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    return place["artifactLocation"]["uri"].get<std::string>();
  };
  EXPECT_EQ(uri("/home/ada/my code/train.py"), "my%20code/train.py");
  EXPECT_EQ(uri("/opt/lib.py"), "file:///opt/lib.py");
  EXPECT_EQ(uri("/home/ada/\xC3\xA4.py"), "%c3%a4.py");
}

TEST(Gitlab, MatchesItsGolden) {
  ExpectGoldenWithSchema("small.gitlab.json", RenderGitlab(SmallReport(), SmallFrame()));
}

TEST(Concise, MatchesItsGolden) {
  ExpectGolden("small.concise", RenderConcise(SmallReport(), SmallFrame()));
}

TEST(Concise, KeepsAFindingInItsLine) {
  const std::string text = RenderConcise(Many(1, "one\ntwo\x1b[31m", "/a.py"), {});
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(JsonLines, MatchesItsGolden) {
  const std::string text = RenderJsonLines(SmallReport());
  ExpectGolden("small.jsonl", text);
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) EXPECT_TRUE(Json::accept(line)) << line;
}

TEST(Markdown, MatchesItsGolden) {
  ExpectGolden("small.md", RenderMarkdown(SmallReport(), SmallFrame()));
}

TEST(Markdown, ShowsMarkupOfStrangersAsText) {
  const std::string text =
      RenderMarkdown(Many(1, "<img src=x> ![a](http://b) [c](d) `e` @everyone", "/a.py"), {});
  EXPECT_THAT(text, Not(HasSubstr("<img")));
  EXPECT_THAT(text, Not(HasSubstr("a](")));
  EXPECT_THAT(text, HasSubstr("\\[c\\]("));
  EXPECT_THAT(text, Not(HasSubstr("@everyone")));
}

TEST(Markdown, StaysBelowAMebibyteWithTenThousandFindings) {
  const std::string text = RenderMarkdown(Many(10'000, std::string(500, 'x'), "/a.py"), {});
  EXPECT_LT(text.size(), size_t{1} << 20);
  EXPECT_THAT(text, HasSubstr("more, which are in result.json"));
}

}  // namespace
}  // namespace dlcheck
