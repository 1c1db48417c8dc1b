#include "reference/training/memory_report.h"

#include <torch/torch.h>

#include <algorithm>
#include <mutex>

namespace dlcheck::reference {

class MemoryReport::Reporter : public c10::MemoryReportingInfoBase {
 public:
  // Called from every thread that autograd uses.
  void reportMemoryUsage(void*, int64_t size, size_t, size_t, c10::Device) override {
    const std::lock_guard lock(mutex_);
    held_ += size;
    peak_ = std::max(peak_, held_);
  }
  bool memoryProfilingEnabled() const override { return true; }

  int64_t held() const {
    const std::lock_guard lock(mutex_);
    return held_;
  }

  int64_t peak() const {
    const std::lock_guard lock(mutex_);
    return peak_;
  }

 private:
  mutable std::mutex mutex_;
  int64_t held_ = 0;
  int64_t peak_ = 0;
};

MemoryReport::MemoryReport()
    : reporter_(std::make_shared<Reporter>()),
      guard_(std::make_unique<c10::DebugInfoGuard>(c10::DebugInfoKind::PROFILER_STATE, reporter_)) {
}

MemoryReport::~MemoryReport() = default;

int64_t MemoryReport::held_bytes() const { return reporter_->held(); }

int64_t MemoryReport::peak_bytes() const { return reporter_->peak(); }

}  // namespace dlcheck::reference
