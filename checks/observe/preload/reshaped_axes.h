// Finds a view or reshape that gives an axis a new place: the values keep their order in memory, so
// a transpose was meant.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class ReshapedAxes {
 public:
  static bool IsReshape(const at::RecordFunction& function);
  // One that the program called itself has returned. Only shapes are read. Cost: a walk over two
  // shapes; of the stack where they tell.
  void Returned(const at::RecordFunction& function, ProbeRecorder& recorder);
  // A backward begins from `root`. Tells of those that are in its graph and of which no slice takes
  // the result. Cost: a walk over at most 20,000 nodes where something waits.
  void Look(const at::Tensor& root, ProbeRecorder& recorder);

 private:
  struct Waiting {
    std::weak_ptr<torch::autograd::Node> node;
    std::string sizes;  // "24x20x30 to 24x30x20"
    Probe::Site site;
    bool may_regroup;  // see RegroupsAxes: a fault only where no transpose takes it
  };
  std::vector<Waiting> waiting_;
  std::set<std::pair<std::string, const char*>> told_;  // sizes and file of the site
};

// "8x10x32 to 8x32x10" where one of the sizes stands at a place where its axis cannot be; empty for
// other shapes. Both are cut into the shortest runs of equal products, within which values mix.
std::string SwappedSizes(const std::vector<int64_t>& before, const std::vector<int64_t>& after);

// Whether the last axis may have been cut, and its larger part joined to the one before, as (time,
// batch, features) becomes (time, batch times heads, features of a head), or the other way round.
// Where the batch is as large as the last part, the sizes are those of a swap.
bool RegroupsAxes(const std::vector<int64_t>& before, const std::vector<int64_t>& after);

}  // namespace dlcheck
