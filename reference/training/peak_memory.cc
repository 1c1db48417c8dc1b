#include "reference/training/peak_memory.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <sys/resource.h>

namespace dlcheck::reference {

int64_t PeakMemory(const at::Device& device) {
  constexpr int64_t kKibibyte = 1024;
  if (!device.is_cpu()) {
    constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    return at::getDeviceAllocator(device.type())
        ->getDeviceStats(device.index())
        .allocated_bytes[kAll]
        .peak;
  }
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * kKibibyte;
}

}  // namespace dlcheck::reference
