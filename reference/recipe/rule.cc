#include "reference/recipe/rule.h"

#include <cmath>
#include <sstream>
#include <utility>

namespace dlcheck::reference {
namespace {

constexpr int64_t kMost = 1000000000;

bool NoNumber(double) { return false; }

// As "a, b or c".
std::string Listed(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::string Spelled(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

}  // namespace

Rule AnyText(const std::string& expected) { return {expected, NoNumber, {}}; }

Rule OneOf(std::vector<std::string> choices) {
  std::string expected = Listed(choices);
  return {std::move(expected), NoNumber, std::move(choices)};
}

Rule Either() { return {"true or false", NoNumber, {}}; }

Rule Above(double low) {
  return {"a finite number above " + Spelled(low),
          [low](double number) { return std::isfinite(number) && number > low; },
          {}};
}

Rule AtLeast(double low) {
  return {"a finite number, " + Spelled(low) + " or above",
          [low](double number) { return std::isfinite(number) && number >= low; },
          {}};
}

Rule Within(double low, double high) {
  return {"a number from " + Spelled(low) + " to " + Spelled(high),
          [low, high](double number) { return number >= low && number <= high; },
          {}};
}

Rule Fraction() {
  return {
      "a number from 0 to below 1", [](double number) { return number >= 0 && number < 1; }, {}};
}

Rule Integers(int64_t low, int64_t high) {
  return {"an integer from " + std::to_string(low) + " to " + std::to_string(high),
          [low, high](double number) {
            return number >= static_cast<double>(low) && number <= static_cast<double>(high);
          },
          {}};
}

Rule Count() { return Integers(1, kMost); }

Rule Natural() {
  return {"an integer, 0 or above", [](double number) { return number >= 0; }, {}};
}

}  // namespace dlcheck::reference
