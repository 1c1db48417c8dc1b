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
  using UnseenModules = std::vector<std::pair<const torch::nn::Module*, uint32_t>>;
  struct Parameter {
    at::Tensor tensor;
    uint32_t thing = 0;
    std::string module;  // name of the module that owns it
    uint32_t module_thing = 0;
    const torch::nn::Module* owner = nullptr;    // none: of no model
    std::string group;                           // "optimizer#0/group#0"; empty: in none
    std::map<std::string, std::string> written;  // attributes
    bool gradient_seen = false;
    int model = kNoModel;  // its ordinal
  };
  static constexpr int kNoModel = -1;

  explicit ProbeModels(ProbeClock& clock) : clock_(&clock) {}

  // Names all modules and parameters of a model, which gets the next ordinal.
  void Add(torch::nn::Module& model);
  // The same of one that may end before the probe does. Its modules are never asked anything: their
  // modes are those told last.
  void Add(const ModelTree& tree);
  void TellMode(const torch::nn::Module* module, bool is_training) { modes_[module] = is_training; }

  // The parameter's entry, made under `name` if it belongs to no model.
  Parameter& Adopt(const at::Tensor& tensor, const std::string& name);
  // Something that a model calls, without parameters of its own, follows the model's mode. Gives
  // its thing.
  uint32_t AddModeDependent(int model, const std::string& name);
  // A weight of a layer that the first model computes with and does not have.
  void AddForgotten(const at::Tensor& weight, const std::string& name);

  // Null for a tensor that is no known parameter.
  Parameter* Find(const at::Tensor& tensor);
  bool Has(const at::Tensor& t) const { return parameters_.count(t.unsafeGetTensorImpl()) > 0; }

  // Two names of the first model that are to be one tensor.
  void Tie(std::string_view one, std::string_view other);
  // Writes how far the tensors that are to be one lie apart.
  void WriteTies();

  // Which model runs, by its ordinal; at first, the first. What follows is about that one.
  int running() const { return running_; }
  void Run(int model) { running_ = model; }
  int count() const { return static_cast<int>(models_.size()); }

  std::vector<at::Tensor> Contents() const;  // parameters and buffers; empty without a model
  std::vector<at::Tensor> Contents(int model) const { return At(model).tree.Contents(); }
  // Floating buffers, each with its thing.
  std::vector<std::pair<uint32_t, at::Tensor>> Buffers() const;
  // True if there is no model.
  bool IsTraining() const { return models_.empty() || IsTraining(Running().root); }
  bool IsTraining(const torch::nn::Module* module) const;
  uint32_t model_thing() const { return models_.empty() ? 0 : Running().thing; }
  uint32_t model_thing(int model) const { return At(model).thing; }
  const ModelTree& tree(int model) const { return At(model).tree; }
  std::string running_type() const { return models_.empty() ? "" : Running().tree.type; }
  // The first module with parameters; 0 if there is none.
  uint32_t first_module_thing() const { return models_.empty() ? 0 : Running().first_module; }
  // Modules of a model that depend on the mode and have no parameter to be seen by, as dropout.
  const UnseenModules& unseen_modules(int model) const { return At(model).unseen; }
  at::Device device() const;  // the CPU if there is no model

  // The thing of the model that this module is the root of; 0 of another module.
  uint32_t ThingOfRoot(const torch::nn::Module* module) const;

  // Writes what is known of every parameter, as far as it is new.
  void Describe();
  // Marks parameters of no optimizer that have been given a gradient.
  void LookForGradients();

  std::vector<at::Tensor> Leaves() const;  // parameters that a backward may reach

 private:
  struct Tied {
    at::Tensor one, other;
    uint32_t thing;
  };
  struct Model {
    Model(const ModelTree& of, const torch::nn::Module* module) : tree(of), root(module) {}
    ModelTree tree;
    const torch::nn::Module* root;
    uint32_t thing = 0, first_module = 0;
    UnseenModules unseen;
  };
  const Model& At(int model) const { return models_[static_cast<size_t>(model)]; }
  const Model& Running() const { return At(running_); }
  static void FindUnseen(Model& model, const std::vector<uint32_t>& things);

  ProbeClock* clock_;
  const torch::nn::Module* first_ = nullptr;  // of a model that outlives this; null if none does
  std::unordered_map<const torch::nn::Module*, bool> modes_;  // that were told
  std::vector<Tied> ties_;
  std::vector<Model> models_;
  int running_ = 0;
  std::unordered_map<const at::TensorImpl*, Parameter> parameters_;
};

}  // namespace dlcheck
