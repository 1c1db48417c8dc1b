#include "diagnostics/render/html/scale.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "checks/engine/text.h"

namespace dlcheck::html {
namespace {

constexpr double kTicksWanted = 4;
constexpr double kMostDecades = 7;

constexpr int kMostDigits = 8;
constexpr double kTold = 1e-6;  // smallest span that is drawn, as a share of the numbers

// "1.2e-05", "0.25", "1,500".
std::string TextOf(double value, int digits) {
  if (value == std::floor(value) && std::abs(value) < 1e6) {
    return WithCommas(static_cast<int64_t>(value));
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

// 1, 2 or 5 times a power of ten.
double RoundStep(double span) {
  const double rough = span / kTicksWanted;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double part = rough / power;
  return power * (part < 1.5 ? 1 : (part < 3.5 ? 2 : (part < 7.5 ? 5 : 10)));
}

}  // namespace

Scale::Scale(double low, double high, double begin, double end, bool by_logarithm)
    : low_(low), high_(high), begin_(begin), end_(end), logarithmic_(by_logarithm && low > 0) {
  if (logarithmic_) {
    low_ = std::log10(low);
    high_ = std::log10(high);
  }
  if (high_ - low_ > std::abs(low_) * kTold) return;
  const double room = logarithmic_ || low_ == 0 ? 1 : std::abs(low_) / 2;
  low_ -= room;
  high_ += room;
}

double Scale::operator()(double value) const {
  const double at = logarithmic_ ? std::log10(std::max(value, 1e-308)) : value;
  const double share = std::clamp((at - low_) / (high_ - low_), 0.0, 1.0);
  return begin_ + share * (end_ - begin_);
}

std::vector<double> Scale::Numbers() const {
  std::vector<double> ticks;
  if (logarithmic_) {
    const double first = std::ceil(low_ - 1e-9), last = std::floor(high_ + 1e-9);
    const double by = std::max(1.0, std::ceil((last - first) / kMostDecades));
    for (double power = first; power <= last; power += by) ticks.push_back(std::pow(10, power));
    if (ticks.size() >= 2) return ticks;
    return {std::pow(10, low_), std::pow(10, high_)};
  }
  const double step = RoundStep(high_ - low_);
  for (double tick = std::ceil(low_ / step) * step; tick <= high_ + step * 1e-9; tick += step) {
    ticks.push_back(std::abs(tick) < step * 1e-9 ? 0 : tick);
  }
  return ticks;
}

std::vector<Scale::Tick> Scale::Ticks() const {
  const std::vector<double> numbers = Numbers();
  for (int digits = 3;; ++digits) {
    std::vector<Tick> ticks;
    std::set<std::string> texts;
    for (const double number : numbers) {
      ticks.push_back({number, TextOf(number, digits)});
      texts.insert(ticks.back().text);
    }
    if (texts.size() == ticks.size() || digits == kMostDigits) return ticks;
  }
}

}  // namespace dlcheck::html
