// The most memory that tensors held at once while this lives, on the CPU as the allocator reports
// it. It takes the place of LibTorch's profiler, which reports through the same door.
#pragma once

#include <cstdint>
#include <memory>

namespace c10 {
class DebugInfoGuard;
}

namespace dlcheck::reference {

class MemoryReport {
 public:
  MemoryReport();
  ~MemoryReport();
  MemoryReport(const MemoryReport&) = delete;
  MemoryReport& operator=(const MemoryReport&) = delete;

  // Bytes beyond what was held when this began: now, and at most.
  int64_t held_bytes() const;
  int64_t peak_bytes() const;

 private:
  class Reporter;
  std::shared_ptr<Reporter> reporter_;
  std::unique_ptr<c10::DebugInfoGuard> guard_;
};

}  // namespace dlcheck::reference
