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
  torch::Tensor y;  // (B), int64; of a token stream (B, T), int64
};

class Source {
 public:
  virtual ~Source() = default;

  virtual int64_t rows() const = 0;

  // The named rows, in that order. Threads may call it at once. REQUIRES: each is in [0, N).
  virtual Batch Take(const std::vector<int64_t>& rows) const = 0;
};

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
