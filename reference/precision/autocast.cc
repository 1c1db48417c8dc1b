#include "reference/precision/autocast.h"

namespace dlcheck::reference {

AutocastGuard::AutocastGuard(at::DeviceType device, at::ScalarType type, bool is_cached)
    : device_(device),
      enabled_before_(at::autocast::is_autocast_enabled(device)),
      type_before_(at::autocast::get_autocast_dtype(device)),
      cached_before_(at::autocast::is_autocast_cache_enabled()) {
  const bool enabled = type == at::kBFloat16 || type == at::kHalf;
  at::autocast::set_autocast_enabled(device_, enabled);
  if (enabled) at::autocast::set_autocast_dtype(device_, type);
  at::autocast::increment_nesting();
  at::autocast::set_autocast_cache_enabled(is_cached);
}

AutocastGuard::~AutocastGuard() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, enabled_before_);
  at::autocast::set_autocast_dtype(device_, type_before_);
  at::autocast::set_autocast_cache_enabled(cached_before_);
}

}  // namespace dlcheck::reference
