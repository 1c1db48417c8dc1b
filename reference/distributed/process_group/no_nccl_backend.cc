// The stand-in of a build without NCCL.
#include "reference/distributed/process_group/group.h"
#include "reference/distributed/process_group/nccl_backend.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {

void ReachGpus(const Ranks& ranks, std::chrono::milliseconds /*patience*/) {
  if (ReachesGpus(*ranks.group().process_group)) return;
  throw UsageError("device is cuda, but this build has no NCCL, over which ranks meet there");
}

}  // namespace dlcheck::reference
