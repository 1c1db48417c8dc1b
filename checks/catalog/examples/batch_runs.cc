#include "checks/catalog/examples/batch_runs.h"

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/text.h"

namespace dlcheck {
namespace {

constexpr int kTested = 2;  // batches of an evaluation

// They enter the model as those of training do; that no backward followed is known afterwards.
void AddTest(RunBuilder& run) {
  for (int place = 0; place < kTested; ++place) {
    run.Event(Event::kFetched, place, "loader", "test", 32);
    run.Quantity(Quantity::kFetchedDigest, "loader", "test", 1000 + place, place);
    run.Event(Event::kUsed, 32, "model", "Net");
    if (place == 0) run.Quantity(Quantity::kBatchFingerprint, "model", "Net", 1000, 7);
  }
}

void TellTest(RunBuilder& run) {
  for (int i = 0; i < kTested; ++i) run.Event(Event::kEvaluationForward, 1, "model", "Net", 1);
}

}  // namespace

Evidence WithBatches(const BatchValues& values) {
  RunBuilder run = TwoLayers();
  run.Attribute("loader", "train", "order", values.order);
  run.Attribute("loader", "train", "samples", StrCat(values.samples));
  run.Attribute("loader", "train", "batch_size", StrCat(values.fetched));
  run.Attribute("loader", "train", "same_start", StrCat(values.same_start));
  run.Attribute("loss", "cross_entropy", "kind", "cross_entropy");
  if (!values.shuffle.empty()) run.Process("declared.shuffle", values.shuffle);
  run.Attribute("loader", "test", "order", "sequential");
  for (int step = 0; step < values.steps; ++step) {
    const int place = step % values.places;
    const bool is_tested = values.tested_each > 0 && step % values.tested_each == 1;
    if (is_tested) AddTest(run);
    if (values.others_each > 0 && step % values.others_each == 0) {
      run.Event(Event::kFetched, 0, "loader", "validation", 32);
    }
    run.Event(Event::kFetched, place, "loader", "train", values.fetched);
    if (values.handed_out) {
      run.Quantity(Quantity::kFetchedDigest, "loader", "train",
                   values.handed_out(step / values.places, place), place);
    }
    for (int use = 0; use < values.uses; ++use) {
      run.Event(Event::kUsed, values.used, "model", "Net");
      if (is_tested) continue;  // the first batch of the step has the fingerprint
      run.Quantity(Quantity::kBatchFingerprint, "model", "Net",
                   values.batch(step / values.places, place), 7);
    }
    if (is_tested) TellTest(run);
    AddStep(run, {.loss_samples = values.counted, .held = {}});
  }
  return PlainOnly(run);
}

}  // namespace dlcheck
