// From numbers to places in a drawing, and the numbers that an axis names.
#pragma once

#include <string>
#include <vector>

namespace dlcheck::html {

// Linear, or by the logarithm where all numbers are above zero and far apart.
class Scale {
 public:
  // `low` <= `high`; the range of places is [begin, end]. Makes room where both are equal.
  Scale(double low, double high, double begin, double end, bool by_logarithm);

  double operator()(double value) const;
  bool is_logarithmic() const { return logarithmic_; }
  struct Tick {
    double value;
    std::string text;
  };
  // Round numbers within the range, at least two and at most eight, no two with the same text.
  std::vector<Tick> Ticks() const;

 private:
  std::vector<double> Numbers() const;

  double low_, high_, begin_, end_;
  bool logarithmic_;
};

}  // namespace dlcheck::html
