// What the C++ probe knows of models: their modules and parameters, and how they are called. Holds
// modules by address; they must outlive it, unless their modes are told.
#pragma once

#include <torch/torch.h>

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "checks/observe/probe/model_tree.h"
#include "checks/observe/probe/probe_clock.h"

namespace dlcheck {

std::string Shape(const at::Tensor& tensor);      // "64x10"; "1" of a number
std::string DtypeName(const at::Tensor& tensor);  // "float32"

class ProbeModels {
 public:
  struct Parameter {
    at::Tensor tensor;
    uint32_t thing = 0;
    std::string module;  // name of the module that owns it
    uint32_t module_thing = 0;
    const torch::nn::Module* owner = nullptr;    // none: of no model
    std::string group;                           // "optimizer#0/group#0"; empty: in none
    std::map<std::string, std::string> written;  // attributes
    bool gradient_seen = false;
    bool of_first = false;  // of the model added first
  };

  explicit ProbeModels(ProbeClock& clock) : clock_(&clock) {}

  // Names all modules and parameters of a model, which gets the next ordinal.
  void Add(torch::nn::Module& model);
  // The same of one that may end before the probe does. Its modules are never asked anything: their
  // modes are those told last.
  void Add(const ModelTree& tree);
  void TellMode(const torch::nn::Module* module, bool is_training) { modes_[module] = is_training; }

  // The parameter's entry, made under `name` if it belongs to no model.
  Parameter& Adopt(const at::Tensor& tensor, const std::string& name);
  // A weight of a layer that the first model computes with and does not have.
  void AddForgotten(const at::Tensor& weight, const std::string& name);

  // Null for a tensor that is no known parameter.
  Parameter* Find(const at::Tensor& tensor);
  bool Has(const at::Tensor& tensor) const {
    return parameters_.count(tensor.unsafeGetTensorImpl()) > 0;
  }

  // Two names of the first model that are to be one tensor.
  void Tie(std::string_view one, std::string_view other);
  // Writes how far the tensors that are to be one lie apart.
  void WriteTies();

  // Parameters and buffers of the first model; empty if there is none.
  std::vector<at::Tensor> Contents() const;
  // Floating buffers of the first model, each with its thing.
  std::vector<std::pair<uint32_t, at::Tensor>> Buffers() const;
  // Of the first model; true if there is none.
  bool IsTraining() const { return root_ == nullptr || IsTraining(root_); }
  bool IsTraining(const torch::nn::Module* module) const;
  // The first module with parameters of the model added first; 0 if there is none.
  uint32_t first_module_thing() const { return first_module_thing_; }
  // Modules of it that depend on the mode and have no parameter to be seen by, as dropout.
  const std::vector<std::pair<const torch::nn::Module*, uint32_t>>& unseen_modules() const {
    return unseen_modules_;
  }
  // Whether it is the model added first.
  bool IsFirst(const torch::nn::Module* module) const { return module == root_; }
  at::Device device() const;  // of the first model; the CPU if there is none

  // Writes what is known of every parameter, as far as it is new.
  void Describe();
  // Marks parameters of no optimizer that have been given a gradient.
  void LookForGradients();

  std::vector<at::Tensor> Leaves() const;                // parameters that a backward may reach
  uint32_t model_thing() const { return model_thing_; }  // of the model added first

 private:
  void FindUnseen(const ModelTree& tree, const std::vector<uint32_t>& things);

  ProbeClock* clock_;
  struct Tied {
    at::Tensor one, other;
    uint32_t thing;
  };

  const torch::nn::Module* first_ =
      nullptr;                               // of a model that outlives this; null if there is none
  const torch::nn::Module* root_ = nullptr;  // of the model added first
  ModelTree tree_;                           // of that model
  std::unordered_map<const torch::nn::Module*, bool> modes_;  // that were told
  std::vector<Tied> ties_;
  int ordinal_ = -1;
  uint32_t model_thing_ = 0;
  uint32_t first_module_thing_ = 0;
  std::vector<std::pair<const torch::nn::Module*, uint32_t>> unseen_modules_;
  std::unordered_map<const at::TensorImpl*, Parameter> parameters_;
};

}  // namespace dlcheck
