#include "checks/signals/data/batches.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "absl/strings/numbers.h"
#include "checks/engine/whole.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

double NumberOf(std::string_view text) {
  double number = 0;
  return absl::SimpleAtod(std::string(text), &number) ? number : 0;
}

// The first batch of each model in a step and micro-step, by index: the one that is fingerprinted.
using Entries = std::map<std::tuple<ThingId, int64_t, uint32_t>, size_t>;

// Fingerprints may be written later than their batch entered, but say when it did.
void AddFingerprints(const Trace& trace, const Entries& entries,
                     std::vector<Batches::Batch>& batches) {
  for (const ThingId model : trace.ThingsWith(Quantity::kBatchFingerprint)) {
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kBatchFingerprint, model))) {
      const auto entry = entries.find({model, sample.step, sample.micro_step});
      if (entry == entries.end()) continue;
      batches[entry->second].fingerprint = {sample.value, sample.aux};
    }
  }
}

}  // namespace

absl::StatusOr<Batches> Batches::From(const Run& run) {
  const Trace& trace = run.trace;
  Batches batches;
  Entries entries;
  std::optional<Fetch> fetched;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.gap) {
      fetched.reset();
    } else if (event.event == Event::kFetched) {
      fetched = {event.thing, Whole(event.value), event.aux};
      batches.fetches[event.step].push_back(*fetched);
    } else if (event.event == Event::kUsed) {
      entries.try_emplace({event.thing, event.step, event.micro_step}, batches.batches.size());
      batches.batches.push_back({.step = event.step,
                                 .model = trace.Display(event.thing),
                                 .size = event.value,
                                 .fetched = std::exchange(fetched, std::nullopt),
                                 .fingerprint = {}});
    }
  }
  if (batches.batches.empty()) return absl::NotFoundError("no training batch was observed");
  AddFingerprints(trace, entries, batches.batches);
  batches.declared_shuffle = std::string(trace.ProcessAttribute("declared.shuffle"));
  for (const ThingId id : trace.ThingsOfKind("loader")) {
    batches.loaders[id] = {.name = trace.Display(id),
                           .order = std::string(trace.Attribute(id, "order")),
                           .samples = NumberOf(trace.Attribute(id, "samples")),
                           .batch_size = NumberOf(trace.Attribute(id, "batch_size")),
                           .same_start = NumberOf(trace.Attribute(id, "same_start"))};
  }
  return batches;
}

OrderOfData OrderOf(const Batches& batches, ThingId loader, int64_t times) {
  std::map<int64_t, std::vector<const Batches::Batch*>> places;
  for (const Batches::Batch& batch : batches.batches) {
    if (!batch.fetched || batch.fetched->loader != loader || !batch.fingerprint) continue;
    // Packed inputs have no row for each sample. A constant input is the same at all places.
    places[batch.fetched->place].push_back(&batch);
  }
  OrderOfData order;
  std::set<Batches::Digest> different;
  bool equal = true;
  for (const auto& [place, seen] : places) {
    if (static_cast<int64_t>(seen.size()) < times) continue;
    if (order.places++ == 0) order.first_step = seen.front()->step;
    order.first_step = std::min(order.first_step, seen.front()->step);
    order.last_step = std::max(order.last_step, seen.back()->step);
    order.iterations = std::max(order.iterations, static_cast<int64_t>(seen.size()));
    different.insert(*seen.front()->fingerprint);
    for (const Batches::Batch* batch : seen) {
      equal = equal && *batch->fingerprint == *seen.front()->fingerprint;
    }
  }
  order.same = equal && different.size() >= 2;
  return order;
}

}  // namespace dlcheck
