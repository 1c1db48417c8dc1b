// What the C++ programs of this folder share: the fault that they were asked for, their data and
// what they print at their end. Each program is a healthy one; a fault changes one place of it.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

// Names the fault of this run; usage: PROGRAM [FAULT].
class Planted {
 public:
  Planted(int count, char** arguments) : name_(count > 1 ? arguments[1] : "") {}
  bool Is(const char* name) const { return name_ == name; }

 private:
  std::string name_;
};

struct Samples {
  torch::Tensor x, y;

  int64_t size() const { return y.size(0); }
  Samples Rows(const torch::Tensor& rows) const {
    return {x.index_select(0, rows), y.index_select(0, rows)};
  }
  // The next `count` from `begin` on.
  Samples From(int64_t begin, int64_t count) const {
    const int64_t end = std::min(begin + count, size());
    return {x.slice(0, begin, end), y.slice(0, begin, end)};
  }
};

// Points (count, 16) around one center for each of 6 classes; centers do not depend on the seed.
inline Samples Clusters(int64_t count, uint64_t seed) {
  auto of_centers = at::make_generator<at::CPUGeneratorImpl>(7);
  auto of_points = at::make_generator<at::CPUGeneratorImpl>(seed);
  const torch::Tensor centers = torch::randn({6, 16}, of_centers);
  const torch::Tensor y = torch::randint(6, {count}, of_points, torch::kLong);
  return {centers.index_select(0, y) + 0.7 * torch::randn({count, 16}, of_points), y};
}

// Numbers to read off points (count, 8): y (count).
inline Samples Curves(int64_t count, uint64_t seed) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  const torch::Tensor x = torch::randn({count, 8}, generator);
  return {x, torch::sin(x.select(1, 0)) + 0.5 * x.select(1, 1) * x.select(1, 2)};
}

// The score, and the weights to the last bit; returns the exit status.
inline int Report(const torch::nn::Module& model, double score, bool is_good) {
  double sum = 0;
  for (const torch::Tensor& parameter : model.parameters()) {
    sum += parameter.detach().to(torch::kDouble).abs().sum().item<double>();
  }
  std::printf("score %.4f weights %a\n", score, sum);
  return is_good ? 0 : 1;
}
