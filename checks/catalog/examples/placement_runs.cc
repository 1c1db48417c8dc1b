#include "checks/catalog/examples/placement_runs.h"

#include "checks/catalog/examples/example_runs.h"

namespace dlcheck {
namespace {

constexpr char kLoss[] = "cross_entropy";
constexpr char kWeight[] = "trunk.weight";

void EndStep(RunBuilder& run, int optimizer, bool moved) {
  run.Quantity(Quantity::kWeightNorm, "parameter", kWeight, 8);
  run.Quantity(Quantity::kUpdateNorm, "parameter", kWeight, moved ? 0.01 : 0);
  run.Ordinal(optimizer).Event(Event::kStep, 0, "optimizer", "").Ordinal(0);
}

}  // namespace

void AddCalls(RunBuilder& run, std::string_view letters) {
  bool moved = false;
  for (const char letter : letters) {
    switch (letter) {
      case 'z':
        run.Event(Event::kCleared, 0, "optimizer", "");
        break;
      case 'Z':
        run.Event(Event::kCleared, 0, "model", "Net");
        break;
      case 'f':
        run.Event(Event::kForward, 1, "module", "trunk");
        break;
      case 'b':
        run.Quantity(Quantity::kLoss, "loss", kLoss, 2.3, 32)
            .Event(Event::kBackward, 0, "loss", kLoss);
        break;
      case 'g':
      case '0':
        moved = letter == 'g';
        run.Quantity(Quantity::kGradientNorm, "parameter", kWeight, moved ? 0.1 : 0);
        break;
      default:
        EndStep(run, letter == 'S' ? 1 : 0, moved);
        moved = false;
    }
  }
}

Evidence Calls(std::string_view letters, std::string_view again) {
  RunBuilder run = TwoLayers();
  AddCalls(run, letters);
  for (int i = 0; i < 16; ++i) AddCalls(run, again);
  return PlainOnly(run);
}

}  // namespace dlcheck
