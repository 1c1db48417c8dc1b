#include "reference/distributed/ddp/gradient_sharing.h"

#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <utility>
#include <vector>

#include "reference/distributed/process_group/group.h"

namespace dlcheck::reference {

void StartAlike(const Ranks& ranks, const torch::nn::Module& module) {
  std::vector<torch::Tensor> parameters = module.parameters();
  c10d::verify_params_across_processes(ranks.group().process_group, parameters, std::nullopt);
  ranks.TakeFromFirst(std::move(parameters));
  ranks.TakeFromFirst(module.buffers());
}

}  // namespace dlcheck::reference
