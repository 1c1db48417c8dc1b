#include "checks/observe/preload/loader_batches.h"

#include <algorithm>
#include <string>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

constexpr size_t kMostChosen = 256;
constexpr int kMostLoaderKinds = 64;  // that are told apart

}  // namespace

void LoaderBatches::Chosen(const ChosenBatch& batch, ProbeRecorder& recorder) {
  // A pass begins: what is left was never used.
  if (batch.place == 0) waiting_.clear();
  if (batch.place == 0) reads_ahead_ = false;
  if (waiting_.size() < kMostChosen) waiting_.push_back(batch);
  if (!recorder.clock().sampled()) recorder.clock().Put(Event::kFetched, {});
}

void LoaderBatches::Enters(bool evaluates, ProbeRecorder& recorder) {
  last_.reset();
  if (waiting_.empty()) return;
  const auto place = static_cast<int64_t>(waiting_.size()) - 1;
  // The first batches of a pass were all asked for before one of them was used.
  if (place > 0 && waiting_.front().place == 0 && waiting_.back().place == place) {
    reads_ahead_ = true;
  }
  entered_ = true;
  // Without reading ahead, those before the last one were left out by the program.
  const size_t count = reads_ahead_ ? 1 : waiting_.size();
  last_ = waiting_[count - 1];
  for (size_t i = 0; i < count; ++i) {
    Write(waiting_.front(), evaluates, recorder);
    waiting_.pop_front();
  }
}

void LoaderBatches::StepEnds() {
  if (entered_ || waiting_.empty()) {
    entered_ = false;
  } else if (reads_ahead_) {
    waiting_.pop_front();
  } else {
    waiting_.clear();
  }
}

uint32_t LoaderBatches::Thing(const ChosenBatch& batch, ProbeRecorder& recorder) {
  if (batch.loader >= kMostLoaderKinds) return 0;
  TraceWriter& writer = recorder.clock().writer();
  const uint32_t thing = writer.Thing("loader", batch.loader, "");
  if (!described_.insert(batch.loader).second) return thing;
  writer.Attribute(thing, "order", batch.is_random ? "random" : "sequential");
  writer.Attribute(thing, "batch_size", std::to_string(batch.batch_size));
  if (batch.samples > 0) writer.Attribute(thing, "samples", std::to_string(batch.samples));
  return thing;
}

void LoaderBatches::Write(const ChosenBatch& batch, bool evaluates, ProbeRecorder& recorder) {
  ProbeClock& clock = recorder.clock();
  if (!clock.sampled() && !(evaluates && clock.records_evaluation())) return;
  const uint32_t thing = Thing(batch, recorder);
  const ProbeClock::About about{thing, 0, recorder.Site(CallSiteOfForward())};
  const auto place = static_cast<double>(batch.place);
  if (evaluates) {
    clock.PutOfEvaluation(Event::kFetched, about, place, static_cast<double>(batch.size));
  } else {
    clock.Put(Event::kFetched, about, place, static_cast<double>(batch.size));
  }
  clock.Put(Quantity::kFetchedDigest, {thing}, static_cast<double>(batch.digest & 0xFFFFFFFF),
            place);
}

}  // namespace dlcheck
