// The HTML page: its sections, what strangers wrote in it, and its size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <pugixml.hpp>
#include <set>

#include "absl/strings/str_replace.h"
#include "checks/catalog/catalog.h"
#include "checks/engine/run_builder.h"
#include "checks/engine/text.h"
#include "diagnostics/render/html/scale.h"
#include "diagnostics/render/render.h"
#include "tests/diagnostics/kept_page.h"

namespace dlcheck {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kMarkup = "</script><img src=x onerror=alert(1)> & \"quotes\"";

// Gradients that are never cleared, of as many layers.
SeriesOfRun Curves(int layers, const std::string& name = "layer") {
  RunBuilder run;
  for (int step = 0; step < 8; ++step) {
    run.Quantity(Quantity::kLoss, "loss", "mse_loss", 1.0 / (step + 1));
    run.Quantity(Quantity::kStepTime, "process", "", 0.01 + 0.001 * step);
    for (int i = 0; i < layers; ++i) {
      const std::string weight = StrCat(name, i, ".weight");
      run.Quantity(Quantity::kGradientNorm, "parameter", weight, 0.1 * (i + 1));
      run.Quantity(Quantity::kHeldGradientNorm, "parameter", weight, 0.1 * (i + 1));
    }
    run.Event(Event::kStep, 0, "optimizer", "");
  }
  return ReadSeries(run.Build());
}

Report Stale(const std::string& thing, int findings = 1) {
  std::vector<Finding> all;
  for (int i = 0; i < findings; ++i) {
    all.push_back({.severity = Severity::kError,
                   .message = "Gradients of " + thing + " are not zeroed.",
                   .places = {{.thing = thing, .file = ""},
                              {.thing = "", .file = "/home/ada/train.py", .line = 7}},
                   .first_step = 1,
                   .last_step = 7,
                   .count = 7,
                   .measured = 7,
                   .bound = 0});
  }
  Report report;
  report.results.push_back(
      {FindCheck("optimizer/stale_gradients"), Outcome::kFailed, "", {std::move(all), ""}});
  report.results.push_back({FindCheck("gradients/missing"), Outcome::kPassed, "", {{}, "8 steps"}});
  report.coverage.training = true;
  report.coverage.steps = 8;
  return report;
}

Frame ExitOne() {
  return {.command = {"python", "train.py"}, .exit_code = 1, .exit_reason = "findings"};
}

pugi::xml_document BodyOf(const std::string& page) {
  pugi::xml_document document;
  const size_t begin = page.find("<body"), end = page.find("</body>") + 7;
  EXPECT_TRUE(document.load_string(page.substr(begin, end - begin).c_str()));
  return document;
}

TEST(Page, HasTheFindingWithItsFixFigureAndLinesOfCode) {
  Frame frame = ExitOne();
  frame.excerpts = {{.file = "/home/ada/train.py",
                     .line = 7,
                     .first_line = 6,
                     .lines = {"loss = f(x)", "loss.backward()"}}};
  const pugi::xml_document body = BodyOf(RenderHtml(Stale("layer0.weight"), frame, Curves(1)));
  const pugi::xpath_node article = body.select_node("//article[@id='finding-1']");
  ASSERT_TRUE(article);
  EXPECT_TRUE(article.node().select_node("figure/div/svg/path"));
  EXPECT_TRUE(article.node().select_node(".//table//td"));
  EXPECT_STREQ(article.node().select_node(".//pre//mark").node().text().get(),
               "    7  loss.backward()");
  EXPECT_THAT(article.node().select_node("p[@class='fix']").node().text().get(),
              HasSubstr("optimizer.zero_grad()"));
}

TEST(Page, DrawsVanishingGradientsByDepth) {
  Report report = Stale("layer0.weight");
  report.results[0].check = FindCheck("gradients/vanishing");
  const pugi::xml_document body = BodyOf(RenderHtml(report, ExitOne(), Curves(5)));
  const pugi::xml_node figure = body.select_node("//figure[@id='finding-1-figure']").node();
  EXPECT_STREQ(figure.select_node(".//strong").node().text().get(), "Gradient norm by depth. ");
  EXPECT_STREQ(figure.select_node(".//desc").node().text().get(),
               "gradient norm: 0.1 at first, 0.5 at last, between 0.1 and 0.5.");
}

TEST(Page, DrawsTheWayFromAnOriginAndTellsItInTextAndJson) {
  Report report = Stale("layer0.weight");
  report.results[0].verdict.findings[0].chain = {"log (head)", "mean"};
  const pugi::xml_document body = BodyOf(RenderHtml(report, ExitOne(), Curves(1)));
  const pugi::xpath_node list = body.select_node("//article//ol[@class='chain']");
  EXPECT_STREQ(list.node().first_child().text().get(), "log (head)");
  EXPECT_STREQ(list.node().last_child().text().get(), "mean");
  EXPECT_THAT(RenderText(report, ExitOne()), HasSubstr("path   log (head) → mean"));
  EXPECT_THAT(RenderJson(report, ExitOne()), HasSubstr("\"chain\""));
}

TEST(Page, DrawsNoFigureThatDoesNotShowTheFinding) {
  const pugi::xml_document body =
      BodyOf(RenderHtml(Stale("layer0.weight"), ExitOne(), SeriesOfRun()));
  EXPECT_FALSE(body.select_node("//article//svg"));
}

TEST(Page, LinksToEachSectionThatItHas) {
  const pugi::xml_document body = BodyOf(RenderHtml(Stale("layer0.weight"), ExitOne(), Curves(3)));
  std::set<std::string> linked, present;
  for (const pugi::xpath_node link : body.select_nodes("//nav//a")) {
    linked.insert(link.node().attribute("href").value());
  }
  for (const pugi::xpath_node section : body.select_nodes("//section")) {
    present.insert(StrCat("#", section.node().attribute("id").value()));
  }
  EXPECT_EQ(linked, present);
  for (const char* id : {"#findings", "#timeline", "#layers", "#not-judged", "#run", "#raw"}) {
    EXPECT_TRUE(present.contains(id)) << id;
  }
}

TEST(Page, ShowsMarkupOfStrangersAsText) {
  const std::string page =
      Kept("markup", RenderHtml(Stale(kMarkup), ExitOne(), Curves(2, kMarkup)));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_EQ(absl::StrReplaceAll(page, {{"<script class=\"dlcheck\"", ""}}).find("<script"),
            std::string::npos);
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"));
}

TEST(Page, CutsNamesOfTenThousandCharacters) {
  const std::string name(10'000, 'w');
  const std::string page = Kept("long", RenderHtml(Stale(name), ExitOne(), Curves(2, name)));
  EXPECT_THAT(page, HasSubstr("more bytes)"));
  EXPECT_LT(page.size(), 200'000u);
}

TEST(Page, ReplacesBytesThatAreNoText) {
  EXPECT_THAT(RenderHtml(Stale("\xff\x01"), ExitOne(), Curves(1)), HasSubstr("\xEF\xBF\xBD"));
}

TEST(Page, AsksForNoOtherFile) {
  const std::string page = Kept("small", RenderHtml(Stale("layer0.weight"), ExitOne(), Curves(3)));
  for (const char* word : {"http:", "https:", "src=", "@import", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(word))) << word;
  }
}

TEST(Page, OfAThousandLayersAndFindingsStaysBelowTwoMegabytes) {
  const std::string page =
      Kept("large", RenderHtml(Stale("layer0.weight", 1000), ExitOne(), Curves(1000)));
  EXPECT_LT(page.size(), size_t{2} << 20);
  EXPECT_THAT(page, HasSubstr("500 of 1000 parameters are left out"));
  EXPECT_THAT(page, HasSubstr("left out: 800 findings"));
}

TEST(Page, SaysWhereNothingWasTrained) {
  const Frame frame{.exit_code = 5, .exit_reason = "nothing to judge"};
  EXPECT_THAT(Kept("nothing", RenderHtml(Report(), frame, {})),
              HasSubstr("No training was observed"));
}

TEST(Page, ShowsTheFirstNumberThatIsNotFinite) {
  RunBuilder run;
  for (const double loss : {2.0, 1.0, static_cast<double>(NAN), static_cast<double>(NAN)}) {
    run.Quantity(Quantity::kLoss, "loss", "mse_loss", loss);
    run.Event(Event::kStep, 0, "optimizer", "");
  }
  Report report;
  report.coverage.training = true;
  EXPECT_THAT(Kept("nonfinite", RenderHtml(report, {}, ReadSeries(run.Build()))),
              HasSubstr("first non-finite"));
}

TEST(Page, DrawsALineForEachProcess) {
  RunBuilder run;
  Report report;
  report.coverage.training = true;
  for (uint16_t rank = 0; rank < 2; ++rank) {
    run.Rank(rank);
    for (int step = 0; step < 4; ++step) {
      run.Quantity(Quantity::kLoss, "loss", "mse_loss", rank + 1.0 / (step + 1));
      run.Event(Event::kStep, 0, "optimizer", "");
    }
    report.coverage.processes.push_back({.rank = rank, .steps = 4, .ended = "finished"});
  }
  const pugi::xml_document body =
      BodyOf(Kept("processes", RenderHtml(report, {}, ReadSeries(run.Build()))));
  EXPECT_EQ(body.select_nodes("//figure[@id='loss-by-process']//path").size(), 2u);
}

std::vector<std::string> TextsOf(const html::Scale& scale) {
  std::vector<std::string> texts;
  for (const auto& [value, text] : scale.Ticks()) texts.push_back(text);
  return texts;
}

TEST(Scale, NamesRoundNumbersThatDiffer) {
  EXPECT_THAT(TextsOf(html::Scale(0, 99, 0, 100, false)),
              testing::ElementsAre("0", "20", "40", "60", "80"));
  EXPECT_THAT(TextsOf(html::Scale(0.01, 100, 0, 100, true)),
              testing::ElementsAre("0.01", "0.1", "1", "10", "100"));
  EXPECT_THAT(TextsOf(html::Scale(3.5001e8, 3.5004e8, 0, 100, false)),
              testing::ElementsAre("3.5001e+08", "3.5002e+08", "3.5003e+08", "3.5004e+08"));
}

TEST(Scale, PlacesOneNumberInTheMiddle) {
  EXPECT_DOUBLE_EQ(html::Scale(3, 3, 0, 100, false)(3), 50);
  EXPECT_DOUBLE_EQ(html::Scale(3, 3, 0, 100, true)(3), 50);
}

}  // namespace
}  // namespace dlcheck
