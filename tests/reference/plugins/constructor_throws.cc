// A plugin whose model cannot be built.
#include <stdexcept>

#include "dlcheck/plugin.h"

struct ConstructorThrows : torch::nn::Module {
  ConstructorThrows(dlcheck::InputShape, int64_t) {
    throw std::runtime_error("weights.bin is missing\nand a second line");
  }
  torch::Tensor forward(torch::Tensor x) { return x; }
};

DLCHECK_MODEL(ConstructorThrows);
