// A process group of c10d, for the few files that call it.
#pragma once

#include <torch/torch.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "reference/distributed/ranks.h"

namespace dlcheck::reference {

struct Group {
  c10::intrusive_ptr<c10d::ProcessGroup> process_group;
};

// A group of one back end for tensors of `device`.
Ranks RanksOf(const c10::intrusive_ptr<c10d::Store>& store, c10::DeviceType device,
              c10d::ProcessGroup::BackendType type,
              const c10::intrusive_ptr<c10d::Backend>& backend);

}  // namespace dlcheck::reference
