// Autocast for a scope, as torch.autocast of Python does it: the state before is restored, and the
// cache of cast weights is emptied when the outermost scope ends.
#pragma once

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

namespace dlcheck::reference {

class AutocastGuard {
 public:
  // `type` is kBFloat16 or kHalf; any other, such as kFloat, means no autocast in this scope.
  // `is_cached`: whether a weight is cast once for the scope; a weight that changes within it is
  // then read stale, so optimizers step outside.
  AutocastGuard(at::DeviceType device, at::ScalarType type,
                bool is_cached = at::autocast::is_autocast_cache_enabled());
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  at::DeviceType device_;
  bool enabled_before_;
  at::ScalarType type_before_;
  bool cached_before_;
};

}  // namespace dlcheck::reference
