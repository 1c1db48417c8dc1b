#include "checks/catalog/examples/overlap_runs.h"

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/text.h"

namespace dlcheck {
namespace {

void Epoch(RunBuilder& run, int epoch) {
  for (int place = 0; place < 8; ++place) {
    run.Event(Event::kFetched, place, "loader", "train", 32);
    run.Event(Event::kUsed, 32, "model", "Net");
    run.Quantity(Quantity::kBatchFingerprint, "model", "Net", epoch, place);
    AddStep(run, {.held = {}});
  }
}

}  // namespace

Evidence Overlapping(const std::vector<double>& trained, int samples) {
  RunBuilder run = TwoLayers();
  run.Attribute("loader", "train", "order", "random");
  run.Attribute("loader", "train", "samples", StrCat(samples));
  run.Attribute("loader", "train", "batch_size", "32");
  int epoch = 0;
  Epoch(run, epoch);
  for (const double rows : trained) {
    run.Event(Event::kFetched, 0, "loader", "validation", 256);
    run.Event(Event::kEvaluationBegan, 0, "model", "Net");
    run.Event(Event::kEvaluationForward, 0, "model", "Net");
    run.Event(Event::kEvaluationEnded, 0, "model", "Net");
    run.Quantity(Quantity::kTrainedRows, "model", "Net", rows, 256);
    run.Quantity(Quantity::kRepeatedRows, "model", "Net", 0, 256);
    Epoch(run, ++epoch);
  }
  return PlainOnly(run);
}

}  // namespace dlcheck
