#include "checks/catalog/examples/batch_runs.h"

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/text.h"

namespace dlcheck {

Evidence WithBatches(const BatchValues& values) {
  RunBuilder run = TwoLayers();
  run.Attribute("loader", "train", "order", values.order);
  run.Attribute("loader", "train", "samples", StrCat(values.samples));
  run.Attribute("loader", "train", "batch_size", StrCat(values.fetched));
  run.Attribute("loader", "train", "same_start", StrCat(values.same_start));
  run.Attribute("loss", "cross_entropy", "kind", "cross_entropy");
  if (!values.shuffle.empty()) run.Process("declared.shuffle", values.shuffle);
  for (int step = 0; step < values.steps; ++step) {
    const int place = step % values.places;
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
      run.Quantity(Quantity::kBatchFingerprint, "model", "Net",
                   values.batch(step / values.places, place), 7);
    }
    AddStep(run, {.loss_samples = values.counted, .held = {}});
  }
  return PlainOnly(run);
}

}  // namespace dlcheck
