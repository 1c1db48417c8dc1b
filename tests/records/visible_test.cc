#include "checks/records/visible.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "checks/records/utf8.h"

namespace dlcheck {
namespace {

TEST(Visible, OrdinaryTextOfAllScriptsStays) {
  for (const std::string text :
       {"", "fc1.weight", "std::vector<int> at x.cc:12", "Größe 模型 نموذج 🙂", "a [b] #c ##d"}) {
    EXPECT_EQ(Visible(text), text);
  }
}

TEST(Visible, ControlsBecomeEscapes) {
  EXPECT_EQ(Visible("a\x1b[2Jb\r\n\tc\x07"), "a\\x1b[2Jb\\r\\n\\tc\\x07");
  EXPECT_EQ(Visible(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(Visible("\x7f\xc2\x9b"
                    "31m"),
            "\\x7f\\x9b31m");
}

TEST(Visible, MarksThatTurnOrHideTextBecomeEscapes) {
  EXPECT_EQ(Visible("a\u202egnp.exe"), "a\\u202egnp.exe");
  EXPECT_EQ(Visible("\ufeffa\u200bb\u2066c\u2028d"), "\\ufeffa\\u200bb\\u2066c\\u2028d");
  EXPECT_EQ(Visible("\U000E0041"), "\\U000e0041");
}

TEST(Visible, BytesThatAreNoUtf8BecomeEscapes) {
  EXPECT_EQ(Visible("\xff\xc0\xaf\xed\xa0\x80"
                    "a\xe2\x82"),
            "\\xff\\xc0\\xaf\\xed\\xa0\\x80"
            "a\\xe2\\x82");
}

TEST(Visible, CommandsOfContinuousIntegrationAreNone) {
  EXPECT_EQ(Visible("::error::x"), "\\x3a:error::x");
  EXPECT_EQ(Visible("a  ::stop-commands::x"), "a  \\x3a:stop-commands::x");
  EXPECT_EQ(Visible("##[error]x"), "##\\x5berror]x");
}

// What was random text is one line of plain characters, whatever it was.
TEST(Visible, RandomBytesAreOneHarmlessLine) {
  std::mt19937 random(1);
  const std::string pieces[] = {"::",       "##[",    "\x1b", "\n", "\r",
                                "\xc2\x9b", "\u202e", " ",    "a",  "\xff"};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) {
      text += random() % 3 == 0 ? std::string(1, static_cast<char>(random() % 256))
                                : pieces[random() % std::size(pieces)];
    }
    std::string rest = Visible(text);
    EXPECT_EQ(rest.find("##["), std::string::npos);
    const size_t word = rest.find_first_not_of(' ');
    EXPECT_NE(rest.compare(word == std::string::npos ? 0 : word, 2, "::"), 0) << rest;
    for (std::string_view left = rest; !left.empty();) {
      const auto next = FirstCharacter(left);
      ASSERT_TRUE(next->code >= 0x20 && !(next->code >= 0x7f && next->code < 0xa0)) << rest;
      left.remove_prefix(next->bytes);
    }
  }
}

}  // namespace
}  // namespace dlcheck
