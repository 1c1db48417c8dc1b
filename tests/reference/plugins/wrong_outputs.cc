// A plugin whose model gives one output too many, and draws random numbers while it does.
#include "dlcheck/plugin.h"

struct WrongOutputs : torch::nn::Module {
  WrongOutputs(dlcheck::InputShape, int64_t classes) : outputs(classes + 1) {}
  torch::Tensor forward(torch::Tensor x) { return torch::randn({x.size(0), outputs}); }
  int64_t outputs;
};

DLCHECK_MODEL(WrongOutputs);
