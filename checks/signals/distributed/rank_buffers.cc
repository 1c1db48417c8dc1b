#include "checks/signals/distributed/rank_buffers.h"

#include <map>
#include <utility>

namespace dlcheck {
namespace {

RankBuffers::Buffer BufferOf(const Trace& trace, ThingId thing, ThingId group) {
  RankBuffers::Buffer buffer{.name = trace.Display(thing), .odd = {}};
  std::map<int64_t, ByRank<std::pair<double, double>>> steps;
  for (const Sample& sample : trace.Series(Quantity::kBufferDigest, thing)) {
    if (sample.owner == group) steps[sample.step][sample.rank] = {sample.value, sample.aux};
  }
  for (const auto& [step, digests] : steps) {
    if (digests.size() < 2) continue;
    ++buffer.evaluations;
    Ranks odd = OddOnes(digests);
    if (odd.empty()) continue;
    if (buffer.differing++ == 0) buffer.first_step = step, buffer.odd = std::move(odd);
    buffer.last_step = step;
  }
  return buffer;
}

}  // namespace

absl::StatusOr<RankBuffers> RankBuffers::From(const Run& run) {
  const Trace& trace = run.trace;
  RankBuffers found;
  for (const ThingId id : trace.ThingsOfKind(kReplicas)) {
    Group group{.name = trace.thing(id).name,
                .buffers = {},
                .never_sent = !trace.Attribute(id, "own_buffers").empty()};
    for (const ThingId thing : trace.ThingsWith(Quantity::kBufferDigest)) {
      Buffer buffer = BufferOf(trace, thing, id);
      if (buffer.evaluations > 0) group.buffers.push_back(std::move(buffer));
    }
    if (!group.buffers.empty()) found.groups.push_back(std::move(group));
  }
  if (found.groups.empty()) {
    return WhyNotCompared(trace, "no two ranks evaluated a model with buffers");
  }
  return found;
}

}  // namespace dlcheck
