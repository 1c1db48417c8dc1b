#include "reference/precision/autocast.h"

#include <ATen/autocast_mode.h>

namespace dlcheck::reference {

AutocastGuard::AutocastGuard(at::DeviceType device, at::ScalarType type)
    : device_(device),
      enabled_before_(at::autocast::is_autocast_enabled(device)),
      type_before_(at::autocast::get_autocast_dtype(device)) {
  const bool enabled = type == at::kBFloat16 || type == at::kHalf;
  at::autocast::set_autocast_enabled(device_, enabled);
  if (enabled) at::autocast::set_autocast_dtype(device_, type);
  at::autocast::increment_nesting();
}

AutocastGuard::~AutocastGuard() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, enabled_before_);
  at::autocast::set_autocast_dtype(device_, type_before_);
}

}  // namespace dlcheck::reference
