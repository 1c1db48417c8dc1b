// Training programs as users of LibTorch write them, which know nothing of dlcheck. Each is
// healthy, or has the fault that its argument names; `torch::manual_seed` is called before.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

struct Arguments {
  std::string fault;  // empty: healthy
  bool Is(const char* name) const { return fault == name; }
};

// By name.
std::map<std::string, std::function<void(const Arguments&)>>& Programs();

struct Registered {
  Registered(const char* name, std::function<void(const Arguments&)> program) {
    Programs()[name] = std::move(program);
  }
};

// Prints what every bit of the weights goes into, and the next random number.
void PrintState(const std::vector<torch::Tensor>& parameters);

// Samples of classes around points of their own: x (n, features), y (n).
struct Data {
  torch::Tensor x, y;
};
inline Data Blobs(int64_t n, int64_t features, int64_t classes, double noise = 1.0) {
  static std::map<std::pair<int64_t, int64_t>, torch::Tensor> all;
  torch::Tensor& centers = all[{features, classes}];
  if (!centers.defined()) centers = 2 * torch::randn({classes, features});
  const torch::Tensor y = torch::randint(classes, {n}, torch::kLong);
  return {centers.index_select(0, y) + noise * torch::randn({n, features}), y};
}
