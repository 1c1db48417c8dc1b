// What the goldens run of this project's code: one process that answers requests of golden.py. A
// subject is a function that reads the parameters and tensors of a case and puts tensors out; the
// same case is worked out in Python and compared there.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace dlcheck::reference {

class Case {
 public:
  using Tensors = std::map<std::string, torch::Tensor>;

  Case(std::map<std::string, std::string> parameters, Tensors inputs)
      : parameters_(std::move(parameters)), inputs_(std::move(inputs)) {}

  // The parameter `name`, or `otherwise` where the case says nothing of it.
  std::string Text(const std::string& name, const std::string& otherwise) const;
  double Number(const std::string& name, double otherwise) const;
  int64_t Integer(const std::string& name, int64_t otherwise) const;
  bool Flag(const std::string& name) const { return Integer(name, 0) != 0; }

  // One of the enumerators by the name that the case gives to the parameter `name`; the first of
  // them, a deviation's kNone, where it gives none.
  template <typename Enum>
  Enum Named(const std::string& name,
             std::initializer_list<std::pair<const char*, Enum>> enumerators) const {
    const std::string given = Text(name, enumerators.begin()->first);
    for (const auto& [text, enumerator] : enumerators) {
      if (given == text) return enumerator;
    }
    throw std::invalid_argument("no " + name + " is named " + given);
  }

  // A tensor of the case; all whose names begin with `prefix`, by the rest of their names.
  torch::Tensor Input(const std::string& name) const { return inputs_.at(name).clone(); }
  Tensors Inputs(const std::string& prefix) const;

  void Put(const std::string& name, const torch::Tensor& tensor) {
    outputs_[name] = tensor.detach().clone();
  }
  const Tensors& outputs() const { return outputs_; }

 private:
  std::map<std::string, std::string> parameters_;
  Tensors inputs_;
  Tensors outputs_;
};

// One a file; main.cc lists them by name.
void Schedules(Case& run);
void Plateaus(Case& run);
void Optimizers(Case& run);
void Clipping(Case& run);
void Averages(Case& run);
void ScalerTrace(Case& run);
void ScalerCalls(Case& run);
void ScaledSteps(Case& run);
void AutocastTable(Case& run);
void Checkpoints(Case& run);
void CheckpointSlopes(Case& run);
void Models(Case& run);
void InitialWeights(Case& run);
void Losses(Case& run);
void Trained(Case& run);
void Augmented(Case& run);

}  // namespace dlcheck::reference
