// Autocast for a scope, as torch.autocast of Python does it: the state before is restored, and the
// cache of cast weights is emptied when the outermost scope ends.
#pragma once

#include <torch/torch.h>

namespace dlcheck::reference {

class AutocastGuard {
 public:
  // `type` is kBFloat16 or kHalf; any other, such as kFloat, means no autocast in this scope.
  AutocastGuard(at::DeviceType device, at::ScalarType type);
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  at::DeviceType device_;
  bool enabled_before_;
  at::ScalarType type_before_;
};

}  // namespace dlcheck::reference
