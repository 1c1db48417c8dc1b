// What a model consists of, taken while it is certainly alive: its modules, parameters and buffers.
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

namespace dlcheck {

// From here on a dropout layer keeps next to nothing.
constexpr double kStrongDropoutProbability = 0.9;

struct ModelTree {
  struct Module {
    std::string name;                  // "trunk.0"; empty for the model itself
    const torch::nn::Module* address;  // may be gone later
    bool depends_on_mode = false;      // its outputs differ between training and evaluation
    bool is_training = true;
    double dropped = 0;  // the probability of a dropout layer
  };
  struct Tensor {
    std::string name;   // "trunk.0.weight"
    size_t module = 0;  // that owns it
    at::Tensor tensor;
  };

  std::string type;             // "Net"
  std::vector<Module> modules;  // each before its children
  std::vector<Tensor> parameters, buffers;

  static ModelTree Of(const torch::nn::Module& model);

  // All parameters and buffers.
  std::vector<at::Tensor> Contents() const;

  // Whether all parameters are among those of `other`; false if there are none.
  bool IsPartOf(const ModelTree& other) const;
};

}  // namespace dlcheck
