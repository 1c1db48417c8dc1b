#include "checks/records/digest.h"

#include <cstring>

namespace dlcheck {

uint64_t SplitMix64(uint64_t index) {
  uint64_t z = (index + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

uint64_t Digest(const void* bytes, size_t size, uint64_t first_word) {
  const char* at = static_cast<const char*>(bytes);
  uint64_t sum = 0;
  for (uint64_t i = first_word; size > 0; ++i) {
    uint64_t word = 0;
    const size_t taken = size < sizeof(word) ? size : sizeof(word);
    std::memcpy(&word, at, taken);
    sum += word * (SplitMix64(i) | 1);
    at += taken;
    size -= taken;
  }
  return sum;
}

}  // namespace dlcheck
