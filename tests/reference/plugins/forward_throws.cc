// A plugin whose model wants other inputs.
#include "dlcheck/plugin.h"

struct ForwardThrows : torch::nn::Module {
  ForwardThrows(dlcheck::InputShape, int64_t classes)
      : head(register_module("head", torch::nn::Linear(3, classes))) {}
  torch::Tensor forward(torch::Tensor x) { return head->forward(x); }
  torch::nn::Linear head;
};

DLCHECK_MODEL(ForwardThrows);
