#include "reference/distributed/replicas.h"

#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "reference/distributed/group.h"
#include "reference/distributed/reducer.h"

namespace dlcheck::reference {
namespace {

// Each parameter that is trained, once, whatever names it has.
std::vector<std::pair<std::string, torch::Tensor>> Trained(const torch::nn::Module& module) {
  std::vector<std::pair<std::string, torch::Tensor>> trained;
  std::unordered_set<const at::TensorImpl*> seen;
  for (const auto& entry : module.named_parameters()) {
    const torch::Tensor& parameter = entry.value();
    if (!parameter.requires_grad() || !seen.insert(parameter.unsafeGetTensorImpl()).second) {
      continue;
    }
    trained.emplace_back(entry.key(), parameter);
  }
  return trained;
}

std::shared_ptr<c10d::Reducer> ReducerOf(const Ranks& ranks, const torch::nn::Module& module,
                                         const Replicas::Options& options) {
  ReducerArguments arguments;
  for (const auto& [name, parameter] : Trained(module)) {
    arguments.names[arguments.parameters.size()] = name;
    arguments.parameters.push_back(parameter);
  }
  arguments.group = ranks.group().process_group;
  arguments.are_sparse.assign(arguments.parameters.size(), false);
  arguments.bucket_bytes = options.bucket_bytes;
  arguments.first_bucket_bytes = options.first_bucket_bytes;
  arguments.finds_unused = options.finds_unused;
  std::tie(arguments.buckets, arguments.bucket_limits) = c10d::compute_bucket_assignment_by_size(
      arguments.parameters,
      {static_cast<size_t>(options.first_bucket_bytes), static_cast<size_t>(options.bucket_bytes)},
      arguments.are_sparse);
  // Gradients of the last parameters are ready first.
  std::reverse(arguments.buckets.begin(), arguments.buckets.end());
  std::reverse(arguments.bucket_limits.begin(), arguments.bucket_limits.end());
  return MakeReducer(arguments);
}

}  // namespace

Replicas::Replicas(const Ranks& ranks, torch::nn::Module& module, const Options& options)
    : ranks_(ranks), module_(module), options_(options) {
  std::vector<torch::Tensor> parameters = module.parameters();
  c10d::verify_params_across_processes(ranks.group().process_group, parameters, std::nullopt);
  ranks.TakeFromFirst(std::move(parameters));
  TakeBuffers();
  reducer_ = ReducerOf(ranks, module, options);
}

Replicas::~Replicas() = default;

void Replicas::TakeBuffers() { ranks_.TakeFromFirst(module_.buffers()); }

void Replicas::BeforeForward(bool shared) {
  if (shared) reducer_->prepare_for_forward();
  if (reducer_->should_rebuild_buckets()) reducer_->rebuild_buckets();
  if (begins_window_ && options_.takes_buffers) TakeBuffers();
  begins_window_ = shared;
}

void Replicas::BeforeBackward(bool shared, const torch::Tensor& outputs) {
  if (!shared) return;
  reducer_->prepare_for_backward(options_.finds_unused ? std::vector<torch::Tensor>{outputs}
                                                       : std::vector<torch::Tensor>());
}

}  // namespace dlcheck::reference
