#include "reference/distributed/ddp/replicas.h"

#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "reference/distributed/ddp/gradient_compression.h"
#include "reference/distributed/ddp/reducer.h"
#include "reference/distributed/ddp/trained_parameters.h"
#include "reference/distributed/process_group/group.h"

namespace dlcheck::reference {
namespace {

std::shared_ptr<c10d::Reducer> ReducerOf(const Ranks& ranks, const torch::nn::Module& module,
                                         const Replicas::Options& options) {
  ReducerArguments arguments;
  for (const auto& [name, parameter] : TrainedParameters(module)) {
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

Replicas::Replicas(const Ranks& ranks, const torch::nn::Module& module, const Options& options)
    : options_(options),
      buffers_(ranks, module, options.takes_buffers),
      reducer_(ReducerOf(ranks, module, options)) {
  if (options.compresses) reducer_->register_comm_hook(MeanInBf16(ranks));
}

Replicas::~Replicas() = default;

void Replicas::BeforeForward(bool shared) {
  if (shared) reducer_->prepare_for_forward();
  // Buckets stay as they were built. c10d would have them built anew after the first pass, in the
  // order in which gradients came; a run that goes on from a checkpoint would then add in another
  // order than the one that it goes on from.
  buffers_.BeforeForward(shared);
}

void Replicas::BeforeBackward(bool shared, const torch::Tensor& outputs) {
  if (!shared) return;
  reducer_->prepare_for_backward(options_.finds_unused ? std::vector<torch::Tensor>{outputs}
                                                       : std::vector<torch::Tensor>());
}

}  // namespace dlcheck::reference
