// What other machines read: JUnit's XML and GitHub's annotations.
#include <gmock/gmock.h>

#include <pugixml.hpp>

#include "checks/catalog/catalog.h"
#include "diagnostics/render/render.h"
#include "diagnostics/render/xml_text.h"

namespace dlcheck {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Finding Of(Severity severity, const std::string& message, std::vector<Place> places = {}) {
  return {.severity = severity,
          .message = message,
          .places = std::move(places),
          .first_step = 1,
          .last_step = 1,
          .count = 1,
          .measured = 1,
          .bound = 0};
}

Result Failed(std::string_view id, std::vector<Finding> findings) {
  return {FindCheck(id), Outcome::kFailed, "", {std::move(findings), ""}};
}

Report Of(std::vector<Result> results) {
  return {.results = std::move(results), .runs = {}, .coverage = {.training = true}};
}

Report EveryOutcome() {
  Result aside{FindCheck("gradients/missing"), Outcome::kSetAside, "", {}};
  aside.set_aside.push_back(
      {Of(Severity::kError, "Known."), SetAsideFinding::How::kSuppressed, "frozen on purpose"});
  return Of(
      {Failed("optimizer/stale_gradients",
              {Of(Severity::kError, "Not <cleared> & \"held\" \x01\xff.",
                  {{.thing = "", .file = "train.py", .line = 84}})}),
       Failed("gradients/vanishing", {Of(Severity::kWarning, "Small.")}),
       {FindCheck("gradients/exploding"), Outcome::kPassed, "", {}},
       {FindCheck("learnability/cannot_overfit_one_batch"),
        Outcome::kNotApplicable,
        "needs --deep",
        {}},
       {FindCheck("initialization/wrong_initial_loss"), Outcome::kBroken, "divided by zero", {}},
       aside});
}

pugi::xml_node Case(const pugi::xml_document& document, const char* name) {
  return document.child("testsuites")
      .child("testsuite")
      .find_child_by_attribute("testcase", "name", name);
}

class RenderJunitTest : public testing::Test {
 protected:
  void Render(const Frame& frame) {
    const std::string text = RenderJunit(EveryOutcome(), frame);
    ASSERT_TRUE(document_.load_buffer(text.data(), text.size())) << text;
  }
  pugi::xml_document document_;
};

TEST_F(RenderJunitTest, CountsCasesByOutcome) {
  Render({});
  const pugi::xml_node suite = document_.child("testsuites").child("testsuite");
  EXPECT_STREQ(suite.attribute("tests").value(), "6");
  EXPECT_STREQ(suite.attribute("failures").value(), "1");
  EXPECT_STREQ(suite.attribute("errors").value(), "1");
  EXPECT_STREQ(suite.attribute("skipped").value(), "1");
}

TEST_F(RenderJunitTest, NamesCheckPlaceAndCauseOfAFailure) {
  Render({});
  const pugi::xml_node node = Case(document_, "stale_gradients");
  EXPECT_STREQ(node.attribute("classname").value(), "dlcheck.optimizer");
  EXPECT_THAT(node.child("failure").text().get(), HasSubstr("train.py:84"));
  EXPECT_THAT(node.child("failure").attribute("message").value(),
              HasSubstr("Not <cleared> & \"held\""));
  EXPECT_THAT(node.child("failure").text().get(), HasSubstr("optimizer.zero_grad()"));
}

TEST_F(RenderJunitTest, FailsFromTheSeverityThatWasAskedFor) {
  Render({.command = {},
          .result_path = "",
          .exit_reason = "",
          .fail_on = Severity::kWarning,
          .started = ""});
  EXPECT_TRUE(Case(document_, "vanishing").child("failure"));
}

TEST_F(RenderJunitTest, ShowsMilderFindingsAndThoseSetAsideWithoutFailing) {
  Render({});
  EXPECT_FALSE(Case(document_, "vanishing").child("failure"));
  EXPECT_THAT(Case(document_, "vanishing").child("system-out").text().get(), HasSubstr("Small."));
  EXPECT_THAT(Case(document_, "missing").child("system-out").text().get(),
              StartsWith("suppressed (frozen on purpose): error: Known."));
}

TEST(XmlText, ReplacesWhatXmlCannotHold) {
  EXPECT_EQ(XmlText("grün\t\n\r"), "grün\t\n\r");
  EXPECT_EQ(XmlText(std::string("a\0b", 3)), "a\uFFFDb");
  EXPECT_EQ(XmlText("\x1b[31m"), "\uFFFD[31m");
  EXPECT_EQ(XmlText("\xff\xc3"), "\uFFFD\uFFFD");
  EXPECT_EQ(XmlText("\xc0\xaf"), "\uFFFD\uFFFD");  // overlong
  EXPECT_EQ(XmlText("\xed\xa0\x80"
                    "x"),
            "\uFFFD\uFFFD\uFFFDx");                            // half of a pair
  EXPECT_EQ(XmlText("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");  // four bytes
  EXPECT_EQ(XmlText("\xef\xbf\xbe"), "\uFFFD");                // no character
}

TEST(RenderGithub, WritesLevelFileLineAndTitle) {
  const std::string text = RenderGithub(EveryOutcome());
  EXPECT_THAT(text,
              StartsWith("::error file=train.py,line=84,title=zero_grad() is not called between "
                         "steps (dlcheck optimizer/stale_gradients)::Not <cleared>"));
  EXPECT_THAT(text, HasSubstr("\n::warning title=The gradients of weight matrices vanish "
                              "(dlcheck gradients/vanishing)::Small.%0AFix: "));
  EXPECT_THAT(text, Not(HasSubstr("Known.")));
}

TEST(RenderGithub, LetsNoTextEndItsCommandOrProperty) {
  const std::string text = RenderGithub(
      Of({Failed("gradients/missing", {Of(Severity::kNote, "50 %\r\n::error::forged",
                                          {{.thing = "", .file = "a,b:c%.py", .line = 1}})})}));
  EXPECT_THAT(text, StartsWith("::notice file=a%2Cb%3Ac%25.py,line=1,title="));
  EXPECT_THAT(text, HasSubstr("::50 %25%0D%0A::error::forged%0AFix: "));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(RenderGithub, ShowsTenOfASeverityAndSaysHowManyItLeftOut) {
  const std::vector<Finding> many(13, Of(Severity::kError, "Found."));
  const std::string text =
      RenderGithub(Of({Failed("gradients/missing", many),
                       Failed("gradients/vanishing", {Of(Severity::kWarning, "Small.")})}));
  size_t errors = 0;
  for (size_t at = text.find("::error "); at != text.npos; at = text.find("::error ", at + 1)) {
    ++errors;
  }
  EXPECT_EQ(errors, 10u);
  EXPECT_THAT(text, HasSubstr("::warning "));
  EXPECT_THAT(text, HasSubstr("3 more findings are not annotated"));
}

}  // namespace
}  // namespace dlcheck
