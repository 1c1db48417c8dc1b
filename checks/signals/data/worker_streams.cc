#include "checks/signals/data/worker_streams.h"

#include <map>

namespace dlcheck {

absl::StatusOr<WorkerStreams> WorkerStreams::From(const Run& run) {
  const Trace& trace = run.trace;
  WorkerStreams result;
  for (const ThingId id : trace.ThingsWith(Quantity::kWorkerStream)) {
    std::map<int, Stream> ranks;
    for (const Sample& sample : trace.Series(Quantity::kWorkerStream, id)) {
      Stream& stream = ranks[sample.rank];
      stream.generator = trace.thing(id).name;
      stream.worker = trace.thing(id).ordinal;
      stream.rank = sample.rank;
      stream.states.emplace_back(sample.value, sample.aux);
    }
    for (auto& [rank, stream] : ranks) result.streams.push_back(std::move(stream));
  }
  if (result.streams.empty()) {
    return absl::NotFoundError("no DataLoader worker drew a random number");
  }
  bool stepped = false;
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kStep) stepped = true;
    if (event.event == Event::kSeeded && stepped) result.seeds_again = true;
  }
  for (const ThingId loader : trace.ThingsOfKind("loader")) {
    const std::string_view workers = trace.Attribute(loader, "workers");
    const bool has_workers = !workers.empty() && workers != "0";
    if (has_workers && trace.Attribute(loader, "samples").empty()) result.reads_iterables = true;
  }
  return result;
}

}  // namespace dlcheck
