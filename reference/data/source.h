// Where samples come from: rows that can be taken in any order, from any thread.
//
// Letters: N rows of a source, B batch.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

namespace dlcheck::reference {

struct Batch {
  torch::Tensor x;  // (B, sample shape), float; of a token stream (B, T), int64
  torch::Tensor y;  // (B), int64; of a token stream (B, T), int64; numbers (B, K), float
};

class Source {
 public:
  virtual ~Source() = default;

  virtual int64_t rows() const = 0;

  // The named rows, in that order. Threads may call it at once. REQUIRES: each is in [0, N).
  virtual Batch Take(const std::vector<int64_t>& rows) const = 0;

  // Take(rows).y, at less cost where x need not be read.
  virtual torch::Tensor TakeTargets(const std::vector<int64_t>& rows) const { return Take(rows).y; }

  // For rows that are best taken near each other: where each stretch of consecutive rows that is
  // read at once ends, ascending, N last. Empty if one order is as good as another.
  virtual std::vector<int64_t> WindowEnds() const { return {}; }
};

// So many windows, picked at random, are shuffled into each other. Sixteen windows of 64 rows are
// sixteen micro-batches of 64, each with rows of about sixteen places of the file, so that a file
// that is sorted by class gives mixed batches, while the memory for it stays at twice 1024 rows.
inline constexpr int64_t kWindowsTogether = 16;

// Rows that are in memory as tensors. Cost of Take: one copy of B rows.
class TensorSource : public Source {
 public:
  explicit TensorSource(Batch all);  // all N rows

  int64_t rows() const override;
  Batch Take(const std::vector<int64_t>& rows) const override;

 private:
  Batch all_;
};

}  // namespace dlcheck::reference
