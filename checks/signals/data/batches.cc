#include "checks/signals/data/batches.h"

#include <algorithm>
#include <limits>
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
constexpr size_t kNotTraining = std::numeric_limits<size_t>::max();  // that one was evaluated

// Fingerprints may be written later than their batch entered, but say when it did.
void AddFingerprints(const Trace& trace, const Entries& entries,
                     std::vector<Batches::Batch>& batches) {
  for (const ThingId model : trace.ThingsWith(Quantity::kBatchFingerprint)) {
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kBatchFingerprint, model))) {
      const auto entry = entries.find({model, sample.step, sample.micro_step});
      if (entry == entries.end() || entry->second == kNotTraining) continue;
      batches[entry->second].fingerprint = {sample.value, sample.aux};
    }
  }
}

void AddHandedOut(const Trace& trace, Batches& batches) {
  for (const ThingId loader : trace.ThingsWith(Quantity::kFetchedDigest)) {
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kFetchedDigest, loader))) {
      batches.handed_out[loader].push_back({sample.step, Whole(sample.aux), {sample.value, 0}});
    }
  }
}

// How many batches of a model entered it in a step for an evaluation with gradients. That no
// backward followed was known only afterwards; they came before those of training.
using Evaluated = std::map<std::pair<ThingId, int64_t>, int64_t>;

Evaluated KnownLate(const Trace& trace) {
  Evaluated evaluated;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    const bool has_gradients = event.aux == 1;
    if (event.gap || event.event != Event::kEvaluationForward || !has_gradients) continue;
    ++evaluated[{event.thing, event.step}];
  }
  return evaluated;
}

using Places = std::map<int64_t, std::vector<Batches::HandedOut>>;

OrderOfData OrderAt(const Places& places, int64_t times) {
  OrderOfData order;
  std::set<Batches::Digest> different;
  bool equal = true;
  for (const auto& [place, seen] : places) {
    if (static_cast<int64_t>(seen.size()) < times) continue;
    if (order.places++ == 0) order.first_step = seen.front().step;
    order.first_step = std::min(order.first_step, seen.front().step);
    order.last_step = std::max(order.last_step, seen.back().step);
    order.iterations = std::max(order.iterations, static_cast<int64_t>(seen.size()));
    different.insert(seen.front().fingerprint);
    for (const Batches::HandedOut& batch : seen) {
      equal = equal && batch.fingerprint == seen.front().fingerprint;
    }
  }
  order.same = equal && different.size() >= 2;
  return order;
}

}  // namespace

absl::StatusOr<Batches> Batches::From(const Run& run) {
  const Trace& trace = run.trace;
  Batches batches;
  Entries entries;
  std::optional<Fetch> fetched;
  Evaluated evaluated = KnownLate(trace);
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.gap) {
      fetched.reset();
    } else if (event.event == Event::kFetched) {
      fetched = {event.thing, Whole(event.value), event.aux};
      batches.fetches[event.step].push_back(*fetched);
    } else if (event.event == Event::kUsed && evaluated[{event.thing, event.step}]-- > 0) {
      fetched.reset();
      entries.try_emplace({event.thing, event.step, event.micro_step}, kNotTraining);
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
  AddHandedOut(trace, batches);
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
  Places used, handed_out;
  std::set<std::pair<int64_t, int64_t>> trained;  // step and place
  for (const Batches::Batch& batch : batches.batches) {
    if (!batch.fetched || batch.fetched->loader != loader) continue;
    // Packed inputs have no row for each sample. A constant input is the same at all places.
    const int64_t place = batch.fetched->place;
    trained.emplace(batch.step, place);
    if (batch.fingerprint) used[place].push_back({batch.step, place, *batch.fingerprint});
  }
  if (const auto found = batches.handed_out.find(loader); found != batches.handed_out.end()) {
    for (const Batches::HandedOut& batch : found->second) {
      // Others are of an evaluation.
      if (trained.contains({batch.step, batch.place})) handed_out[batch.place].push_back(batch);
    }
  }
  const OrderOfData order = OrderAt(used, times);
  if (order.same) return order;
  // A program may change each batch at random before it enters the model.
  const OrderOfData before = OrderAt(handed_out, times);
  return before.same || order.places == 0 ? before : order;
}

}  // namespace dlcheck
