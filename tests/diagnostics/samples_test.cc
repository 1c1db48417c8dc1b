// Samples of the program's data: read from a probe's lines, and shown in the page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "checks/engine/text.h"
#include "diagnostics/render/render.h"
#include "diagnostics/samples/samples.h"
#include "tests/diagnostics/kept_page.h"
#include "tests/diagnostics/small_report.h"

namespace dlcheck {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kPicture[] =
    R"({"moment": "first step", "step": 0, "model": "Net", "role": "input", "kind": "picture", )"
    R"("shape": [9, 1, 2, 2], "dtype": "float32", "size": [1, 2, 2], "rows": [[0, 0.5, 1, "nan"]]})";
constexpr char kTokens[] =
    R"({"moment": "first step", "step": 0, "model": "Net", "role": "input", "kind": "row", )"
    R"("shape": [9, 2], "dtype": "int64", "size": [2], "rows": [[3, 4]], "texts": ["<b>a</b>"]})";

std::string Prediction(int step, const char* rows) {
  return StrCat(R"({"moment": "predictions for a fixed batch", "step": )", step,
                R"(, "model": "Net", "role": "output", "kind": "row", "shape": [9, 3], )",
                R"("dtype": "float32", "size": [3], "rows": [)", rows, "]}");
}

TEST(Samples, LinesOfAProbeAreRead) {
  const std::vector<KeptRows> kept = ParseSamples(StrCat(kPicture, "\n", kTokens, "\n"));
  ASSERT_THAT(kept, SizeIs(2));
  EXPECT_TRUE(kept[0].is_picture);
  EXPECT_TRUE(std::isnan(kept[0].rows[0][3]));
  EXPECT_THAT(kept[1].rows[0], ElementsAre(3, 4));
  EXPECT_THAT(kept[1].texts, ElementsAre("<b>a</b>"));
}

TEST(Samples, LinesThatDoNotFitAreLeftOut) {
  const std::string cut = std::string(kPicture).substr(0, 90);
  const char* short_row = R"({"kind": "picture", "size": [1, 2, 2], "rows": [[0, 1]]})";
  const char* huge = R"({"kind": "row", "size": [99999999, 99999999], "rows": [[0]]})";
  const char* channels = R"({"kind": "picture", "size": [2, 1, 1], "rows": [[0, 1]]})";
  for (const std::string line : {cut.c_str(), short_row, huge, channels, "7", "[]", "{}"}) {
    EXPECT_THAT(ParseSamples(line), IsEmpty()) << line;
  }
}

TEST(Samples, ThePageWarnsAndShowsThem) {
  Frame frame;
  frame.samples = ParseSamples(StrCat(kPicture, "\n", kTokens, "\n", Prediction(1, "[0, 2, 1]"),
                                      "\n", Prediction(3, "[0, 1, 4.5]"), "\n"));
  const std::string page = Kept("samples", RenderHtml(SmallReport(), frame, {}));
  EXPECT_THAT(page, HasSubstr("holds data of the training program"));
  EXPECT_THAT(page, HasSubstr("src=\"data:image/png;base64,iVBORw0KGgo"));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;a&lt;/b&gt;"));
  EXPECT_THAT(page, HasSubstr("1 (2)"));
  EXPECT_THAT(page, HasSubstr("2 (4.5)"));
  EXPECT_THAT(RenderText(SmallReport(), frame), HasSubstr("hold samples of your data"));
}

TEST(Samples, APageWithoutThemHasNoSuchSection) {
  EXPECT_THAT(RenderHtml(SmallReport(), {}, {}), Not(HasSubstr("id=\"samples\"")));
}

}  // namespace
}  // namespace dlcheck
