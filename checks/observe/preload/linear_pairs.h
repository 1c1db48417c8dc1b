// Two trained linear layers that follow each other with nothing nonlinear between them.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class LinearPairs {
 public:
  // A product, or dropout, which may lie between two.
  static bool IsOfLayer(const at::RecordFunction& function);
  // One that lies in no other operation has returned, with gradients. Cost: a look at the stack, in
  // the first steps alone.
  void Returned(const at::RecordFunction& function, ProbeRecorder& recorder);
  // A backward begins from `root`. Cost: a walk over its graph, in the first steps alone.
  void Look(const at::Tensor& root, ProbeRecorder& recorder);

 private:
  using Node = torch::autograd::Node;
  struct Product {
    std::weak_ptr<Node> node;  // of its result
    Probe::Site site;
  };
  struct User {
    int count = 0;  // how many nodes take the result
    const Node* last = nullptr;
  };
  using Users = std::unordered_map<const Node*, User>;
  // Whether the result of a layer is cut into the heads of attention.
  static bool IsCut(const Node* layer, const Users& users);
  void LookAt(const Product& product, Node* layer, const Users& users, ProbeRecorder& recorder);

  std::vector<Product> products_;
  std::vector<std::weak_ptr<Node>> dropouts_;
  std::unordered_set<const Node*> linear_;  // dropouts of the graph that is looked at
  std::set<std::string> told_;              // sizes
};

}  // namespace dlcheck
