#include "reference/data/source.h"

#include <utility>

namespace dlcheck::reference {

TensorSource::TensorSource(Batch all) : all_(std::move(all)) {}

int64_t TensorSource::rows() const { return all_.y.size(0); }

Batch TensorSource::Take(const std::vector<int64_t>& rows) const {
  const torch::Tensor index = torch::tensor(rows, torch::kInt64);
  return {all_.x.index_select(0, index), all_.y.index_select(0, index)};
}

}  // namespace dlcheck::reference
