#include "checks/observe/preload/experiments/reference_optimizer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "checks/observe/preload/watcher.h"

namespace dlcheck {
namespace {

bool AreTheSame(const std::vector<at::Tensor>& some, const std::vector<at::Tensor>& others) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                    [](const at::Tensor& a, const at::Tensor& b) { return a.is_same(b); });
}

}  // namespace

void ReferenceOptimizers::Step(const torch::optim::Optimizer& optimizer) {
  std::vector<at::Tensor> parameters;
  for (const auto& group : optimizer.param_groups()) {
    parameters.insert(parameters.end(), group.params().begin(), group.params().end());
  }
  Reference& reference = references_[&optimizer];
  // Another optimizer may have been built in the same place.
  if (reference.adam == nullptr || !AreTheSame(reference.parameters, parameters)) {
    reference.parameters = parameters;
    reference.adam = std::make_unique<torch::optim::Adam>(std::move(parameters),
                                                          torch::optim::AdamOptions(rate_));
  }
  reference.adam->step();
}

at::Tensor ReferenceSteps::Step(torch::optim::Optimizer& optimizer, int, Closure closure,
                                const OwnStep&) {
  at::Tensor loss;
  if (closure) {
    const torch::AutoGradMode enabled(true);
    loss = closure();
  }
  const Watcher::Inside inside;
  try {
    optimizers_.Step(optimizer);
  } catch (const c10::Error& error) {
    Refuse(std::string("the reference optimizer fails: ") + error.what_without_backtrace());
  }
  return loss;
}

}  // namespace dlcheck
