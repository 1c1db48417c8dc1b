#include "reference/distributed/zero/block_order.h"

#include <algorithm>

namespace dlcheck::reference {

std::optional<size_t> BlockOrder::After(size_t block) {
  used_.push_back(block);
  const auto last = last_used_.find(used_.front());
  if (last == last_used_.end() || last->second.size() <= used_.size()) return std::nullopt;
  if (!std::equal(used_.begin(), used_.end(), last->second.begin())) return std::nullopt;
  return last->second[used_.size()];
}

void BlockOrder::End() {
  if (!used_.empty()) last_used_[used_.front()] = used_;
}

}  // namespace dlcheck::reference
