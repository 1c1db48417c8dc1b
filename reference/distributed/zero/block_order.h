// Which block of a model is likely to be used next.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace dlcheck::reference {

class BlockOrder {
 public:
  // A pass begins.
  void Begin() { used_.clear(); }

  // Notes that `block` is used now. Returns the one that came next in the last pass that went up
  // to here as this one does; a pass is one of its kind, forward or backward, by its first block.
  std::optional<size_t> After(size_t block);

  // The pass is over.
  void End();

 private:
  std::vector<size_t> used_;                         // in this pass
  std::map<size_t, std::vector<size_t>> last_used_;  // in the last pass that began with the key
};

}  // namespace dlcheck::reference
