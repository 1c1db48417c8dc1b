#include "checks/records/sampling.h"

namespace dlcheck {
namespace {

constexpr int64_t kAlways = 64;  // steps below it are all sampled
constexpr int64_t kAlwaysEvaluations = 8;
constexpr int64_t kBlocks = 8;  // of a doubling
constexpr int64_t kBlock = 4;   // consecutive steps of a block

// Largest power of two that is not above `step`.
int64_t DoublingStart(int64_t step) {
  int64_t start = kAlways;
  while (step - start >= start) start *= 2;
  return start;
}

}  // namespace

bool IsSampled(int64_t step) {
  if (step < kAlways) return true;
  const int64_t start = DoublingStart(step);
  const int64_t stride = start / kBlocks;
  return (step - start) % stride < kBlock;
}

int64_t NextSampled(int64_t step) {
  if (IsSampled(step + 1)) return step + 1;
  const int64_t start = DoublingStart(step);
  const int64_t stride = start / kBlocks;
  return start + ((step - start) / stride + 1) * stride;
}

bool TakesDigest(int64_t step) { return (step & (step - 1)) == 0; }

bool IsSampledEvaluation(int64_t number) {
  return number <= kAlwaysEvaluations || (number & (number - 1)) == 0;
}

}  // namespace dlcheck
