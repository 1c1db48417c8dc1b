// Numbers in findings: short, but never two that read alike and are not.
#include "checks/engine/text.h"

#include <gtest/gtest.h>

namespace dlcheck {
namespace {

TEST(Text, TwoNumbersHaveAsManyDigitsAsTellThemApart) {
  EXPECT_EQ(ShortApart(2.3, 2.4), std::pair(std::string("2.3"), std::string("2.4")));
  EXPECT_EQ(ShortApart(1.23456, 1.23457),
            std::pair(std::string("1.23456"), std::string("1.23457")));
  const auto [one, other] = ShortApart(2.3, 2.3 + 4.5e-16);
  EXPECT_NE(one, other);
}

TEST(Text, EqualNumbersReadAlike) { EXPECT_EQ(ShortApart(2, 2).first, ShortApart(2, 2).second); }

}  // namespace
}  // namespace dlcheck
