// A process group of c10d, for the few files that call it.
#pragma once

#include <torch/torch.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reference/distributed/process_group/ranks.h"

namespace dlcheck::reference {

struct Group {
  c10::intrusive_ptr<c10d::ProcessGroup> process_group;
  // The `members` of this group as a group of their own, which `name` tells from any other. All
  // ranks of this one call at one time, each with the group that it is in.
  std::function<Ranks(const std::string& name, const std::vector<int64_t>& members)> part;
};

// What does the collectives of tensors on a kind of device.
struct DeviceBackend {
  c10::DeviceType device;
  c10d::ProcessGroup::BackendType type;
  c10::intrusive_ptr<c10d::Backend> backend;
};

// A group of those, the first of which is for what is on no device; all are of one rank and world.
Ranks RanksOf(const c10::intrusive_ptr<c10d::Store>& store,
              const std::vector<DeviceBackend>& backends, decltype(Group::part) part);

// Whether collectives of tensors on GPUs have a back end.
bool ReachesGpus(const c10d::ProcessGroup& group);

// The place of `rank` in `members`.
int64_t PlaceIn(const std::vector<int64_t>& members, int64_t rank);

}  // namespace dlcheck::reference
