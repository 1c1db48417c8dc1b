#include "checks/observe/preload/graph/operation_sites.h"

#include <string_view>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

constexpr size_t kMostSites = 256;

}  // namespace

bool OperationSites::Is(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  return name == "aten::mul" || name == "aten::exp";
}

void OperationSites::Returned(const at::RecordFunction& function) {
  if (sites_.size() >= kMostSites || function.outputs().size() != 1) return;
  if (!function.outputs()[0].isTensor()) return;
  const at::Tensor& result = function.outputs()[0].toTensor();
  if (result.defined() && result.grad_fn() != nullptr) {
    sites_.insert_or_assign(result.grad_fn().get(), CallSite());
  }
}

Probe::Site OperationSites::Of(const torch::autograd::Node& node) const {
  const auto found = sites_.find(&node);
  return found == sites_.end() ? CallSite() : found->second;
}

}  // namespace dlcheck
