// What a good value of a recipe's key is, and how a message says so.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace dlcheck::reference {

struct Rule {
  std::string expected;  // after "expected: "
  std::function<bool(double number)> is_good_number;
  std::vector<std::string> choices;  // of texts; empty: any
};

Rule AnyText(const std::string& expected);
Rule OneOf(std::vector<std::string> choices);
Rule Either();  // true or false
Rule Above(double low);
Rule AtLeast(double low);
Rule Within(double low, double high);
Rule Fraction();  // from 0 to below 1
Rule Integers(int64_t low, int64_t high);
Rule Count();    // from 1 to a thousand million
Rule Natural();  // 0 or above

}  // namespace dlcheck::reference
