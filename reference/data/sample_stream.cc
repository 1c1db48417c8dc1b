#include "reference/data/sample_stream.h"

#include <cmath>
#include <numbers>

#include "checks/records/digest.h"

namespace dlcheck::reference {

SampleStream::SampleStream(uint64_t seed, int64_t epoch, int64_t row, uint32_t purpose) {
  const uint64_t of_epoch = SplitMix64(SplitMix64(seed) + static_cast<uint64_t>(epoch));
  next_ = SplitMix64(of_epoch + static_cast<uint64_t>(row)) + (uint64_t{purpose} << 32);
}

double SampleStream::Uniform() { return static_cast<double>(SplitMix64(next_++) >> 11) * 0x1p-53; }

int64_t SampleStream::Below(int64_t count) {
  return static_cast<int64_t>(Uniform() * static_cast<double>(count));
}

double SampleStream::Normal() {
  const double radius = std::sqrt(-2 * std::log(1 - Uniform()));
  return radius * std::cos(2 * std::numbers::pi * Uniform());
}

double SampleStream::Beta(double alpha) {
  while (true) {
    const double x = std::pow(Uniform(), 1 / alpha), y = std::pow(Uniform(), 1 / alpha);
    if (x + y > 0 && x + y <= 1) return x / (x + y);
  }
}

}  // namespace dlcheck::reference
