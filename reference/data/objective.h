// What a model is trained for, where it is not to tell the targets of the file: batches become
// those of another task.
//
// Letters: B batch, C channels.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/data/augmentation.h"
#include "reference/data/source.h"

namespace dlcheck::reference {

// kContrastive  two views of each image: x (2 B, ...), and y the place of the other view, (2 B)
// kDiffusion    noise is to be told that was added to an image: x (B, C + 1, height, width), whose
//               last channel is the level of the noise, and y the noise, (B, C, height, width)
enum class Objective : uint8_t { kSupervised, kContrastive, kDiffusion };

// Of rows that an evaluation takes: it is the same at each time.
inline constexpr int64_t kEvaluationEpoch = -1;

// Views are those of the augmentation. SimCLR: Chen et al. 2020.
Batch TwoViews(const Augmentation& augmentation, const Batch& batch,
               const std::vector<int64_t>& rows, int64_t epoch);

// At level t, drawn evenly from 0 to 1, an image x becomes cos(pi t / 2) x + sin(pi t / 2) noise.
// The noise is to be told: Ho et al. 2020; the cosine: Nichol and Dhariwal 2021.
Batch Noised(const Batch& batch, const std::vector<int64_t>& rows, uint64_t seed, int64_t epoch);

}  // namespace dlcheck::reference
