#include "reference/data/source.h"

#include <algorithm>
#include <utility>

namespace dlcheck::reference {

TensorSource::TensorSource(Batch all) : all_(std::move(all)) {}

int64_t TensorSource::rows() const { return all_.y.size(0); }

Batch TensorSource::Take(const std::vector<int64_t>& rows) const {
  // Not torch::tensor(rows), which takes as long as a small model's layer.
  const torch::Tensor index = torch::empty({static_cast<int64_t>(rows.size())}, torch::kInt64);
  std::copy(rows.begin(), rows.end(), index.mutable_data_ptr<int64_t>());
  return {all_.x.index_select(0, index), all_.y.index_select(0, index)};
}

}  // namespace dlcheck::reference
