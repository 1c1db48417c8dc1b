#include "reference/distributed/zero/shard_groups.h"

#include <string>
#include <vector>

#include "reference/distributed/process_group/group.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

// `count` ranks from `first` on, each `stride` after the one before.
Ranks PartOf(const Ranks& ranks, const char* what, int64_t first, int64_t stride, int64_t count) {
  std::vector<int64_t> members;
  for (int64_t i = 0; i < count; ++i) members.push_back(first + i * stride);
  return ranks.group().part(what + std::to_string(first), members);
}

}  // namespace

ShardGroups ShardGroupsOf(const Ranks& ranks, int64_t size) {
  const int64_t world = ranks.world(), rank = ranks.rank();
  if (size == 0 || size == world) return {ranks, ranks, Ranks()};
  if (world % size != 0) {
    throw UsageError("shard-group is " + std::to_string(size) + ", but " + std::to_string(world) +
                     " ranks are no multiple of it");
  }
  return {ranks, PartOf(ranks, "within-", rank / size * size, 1, size),
          PartOf(ranks, "across-", rank % size, size, world / size)};
}

}  // namespace dlcheck::reference
