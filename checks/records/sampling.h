// Which steps are recorded in full. A pure function of counts, so that two runs of one program and
// two probes agree: steps 0 to 63, and in every doubling after that (64 to 127, 128 to 255, ...)
// eight evenly spaced blocks of four consecutive steps, without end.
#pragma once

#include <cstdint>

namespace dlcheck {

bool IsSampled(int64_t step);

// First sampled step after `step`.
int64_t NextSampled(int64_t step);

// Steps at which digests are taken: 0 and the powers of two. All of them are sampled.
bool TakesDigest(int64_t step);

// Of sampled steps: those in which also what is slow to measure, and changes slowly, is.
constexpr bool IsDetailed(int64_t step) { return step < 8 || step % 8 == 0; }

// Evaluations have a clock of their own, because they seldom fall into a sampled step: the first
// eight, and those whose number, counted from 1, is a power of two.
bool IsSampledEvaluation(int64_t number);

// Batches of an evaluation that are recorded one by one.
inline constexpr int64_t kMostEvaluationBatches = 64;

}  // namespace dlcheck
