#include "checks/signals/loss/initial_loss.h"

namespace dlcheck {
namespace {

// False for a file that is known to hold no model, as one of data does, and for a state of anything
// else.
bool MayHoldWeights(const Trace& trace, ThingId thing) {
  const std::string_view kind = trace.thing(thing).kind;
  if (kind == "optimizer" || kind == "scheduler" || kind == "scaler") return false;
  const std::string_view contents = trace.Attribute(thing, "contents");
  return contents.empty() || contents.find("model") != std::string_view::npos;
}

}  // namespace

bool LoadedBeforeStart(const Trace& trace) {
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kStep) return false;
    if (event.event == Event::kLoaded && MayHoldWeights(trace, event.thing)) return true;
  }
  return false;
}

absl::StatusOr<InitialLoss> InitialLoss::From(const Run& run) {
  const Trace& trace = run.trace;
  const std::vector<ThingId> losses = trace.ThingsWith(Quantity::kInitialLoss);
  if (losses.empty()) {
    return absl::NotFoundError("no loss was observed together with its outputs and targets");
  }
  if (LoadedBeforeStart(trace)) {
    return absl::FailedPreconditionError("weights were loaded before the first optimizer step");
  }
  const ThingId loss = losses.front();
  const auto independent = trace.Series(Quantity::kIndependentLoss, loss);
  const auto constant = trace.Series(Quantity::kConstantLoss, loss);
  if (independent.empty() || constant.empty()) {
    return absl::NotFoundError("the initial loss was recorded incompletely");
  }
  double batch = 0;
  for (const ThingId thing : trace.ThingsWith(Quantity::kLoss)) {
    batch = trace.Series(Quantity::kLoss, thing).front().aux;
  }
  const Sample& initial = trace.Series(Quantity::kInitialLoss, loss).front();
  const auto pooled = trace.Series(Quantity::kPooledConstantLoss, loss);
  return InitialLoss{.initial = initial.value,
                     .independent = independent.front().value,
                     .constant = constant.front().value,
                     .samples = initial.aux,
                     .classes = constant.front().aux,
                     .batch = batch,
                     .pooled = pooled.empty() ? constant.front().value : pooled.back().value,
                     .pooled_samples = pooled.empty() ? initial.aux : pooled.back().aux,
                     .kind = std::string(trace.Attribute(loss, "kind"))};
}

}  // namespace dlcheck
