// SGD with momentum, Adam and AdamW over the fused kernels of ATen, which are bit for bit those of
// PyTorch's Python on the CPU; torch::optim is not. One optimizer with named groups of parameters.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dlcheck::reference {

class Optimizer {
 public:
  enum class Rule : uint8_t { kSgd, kAdam, kAdamW };

  struct Parameter {
    std::string name;
    torch::Tensor tensor;
  };
  struct Group {
    std::string name;
    double lr;
    double weight_decay;
    std::vector<Parameter> parameters;
  };
  struct Options {
    Rule rule = Rule::kSgd;
    double momentum = 0;  // of SGD
    double beta1 = 0.9;   // of Adam and AdamW
    double beta2 = 0.999;
    double epsilon = 1e-8;
  };

  Optimizer(const Options& options, std::vector<Group> groups);

  // One update of every parameter that has a gradient; the others keep their value and state.
  //
  // SGD:   m = momentum m + (g + decay p);  p -= lr m.
  // Adam:  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2, with g + decay p for g;
  //        p -= lr / (1 - b1^k) * m / (sqrt(v / (1 - b2^k)) + epsilon), k from 1.
  // AdamW: as Adam with g alone, after p *= 1 - lr decay.
  // Source: Kingma and Ba 2015; Loshchilov and Hutter 2019.
  void Step();

  // Sets the gradients of all parameters to none.
  void ZeroGrad();

  const std::vector<Group>& groups() const { return groups_; }
  std::vector<Group>& groups() { return groups_; }

  // Writes the moments of each parameter under its name.
  void Save(torch::serialize::OutputArchive& archive) const;

 private:
  // Of one parameter; the first is SGD's momentum too.
  struct Moments {
    torch::Tensor first, second, steps;
  };
  void StepSgd(const Group& group, const std::vector<size_t>& chosen,
               std::vector<Moments>& moments);
  void StepAdam(const Group& group, const std::vector<size_t>& chosen,
                std::vector<Moments>& moments);

  Options options_;
  std::vector<Group> groups_;
  std::vector<std::vector<Moments>> moments_;  // by group and parameter
};

}  // namespace dlcheck::reference
