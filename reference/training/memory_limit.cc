#include "reference/training/memory_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace dlcheck::reference {
namespace {

constexpr int64_t kKibibyte = 1024;
constexpr int64_t kMebibyte = kKibibyte * kKibibyte;

// The number after `key` in a file of such pairs; or, without a key, the first of the file.
std::optional<int64_t> NumberIn(const char* path, const std::string& key = "") {
  std::ifstream file(path);
  std::string word = key;
  while (!key.empty() && file >> word && word != key) {
  }
  int64_t number = 0;
  if (word != key || !(file >> number)) return std::nullopt;
  return number;
}

std::optional<int64_t> LeftOfMachine() {
  const std::optional<int64_t> available = NumberIn("/proc/meminfo", "MemAvailable:");
  if (!available) return std::nullopt;
  return *available * kKibibyte;
}

// A group without a bound says "max", which is no number.
std::optional<int64_t> LeftOfGroup() {
  const std::optional<int64_t> most = NumberIn("/sys/fs/cgroup/memory.max");
  const std::optional<int64_t> used = NumberIn("/sys/fs/cgroup/memory.current");
  if (!most || !used) return std::nullopt;
  return std::max<int64_t>(*most - *used, 0);
}

}  // namespace

void LimitMemory(int64_t mebibytes) {
  std::optional<int64_t> more = mebibytes * kMebibyte;
  if (mebibytes == 0) {
    more = LeftOfMachine();
    const std::optional<int64_t> of_group = LeftOfGroup();
    if (more && of_group) more = std::min(*more, *of_group);
  }
  const std::optional<int64_t> held = NumberIn("/proc/self/status", "VmData:");
  rlimit limit{};
  if (!more || !held || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  const auto bytes = static_cast<rlim_t>(*held * kKibibyte + *more);
  // Never above what whoever started us allows; RLIM_INFINITY is the largest number.
  limit.rlim_cur = std::min(limit.rlim_cur, bytes);
  setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace dlcheck::reference
