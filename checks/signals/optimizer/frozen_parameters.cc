#include "checks/signals/optimizer/frozen_parameters.h"

#include <limits>
#include <optional>
#include <utility>

#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

// Growth of a norm that rounding does not explain.
constexpr double kGrown = 1 + 1e-6;

struct Span {
  ThingId thing;
  int64_t from, to;  // steps, both ends excluded
};

std::vector<Span> FrozenSpans(const Trace& trace) {
  std::vector<Span> spans;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.gap) continue;
    if (event.event == Event::kFrozen) {
      spans.push_back({event.thing, event.step, std::numeric_limits<int64_t>::max()});
    } else if (event.event == Event::kThawed) {
      for (Span& span : spans) {
        if (span.thing == event.thing && span.to > event.step) span.to = event.step;
      }
    }
  }
  return spans;
}

bool Within(const Span& span, const Sample& sample) {
  return sample.step > span.from && sample.step < span.to;
}

bool GradientGrew(const Trace& trace, const Span& span) {
  std::optional<double> before;
  for (const Sample& sample : FirstProcess(trace.Series(Quantity::kGradientNorm, span.thing))) {
    if (!Within(span, sample)) continue;
    if (before && sample.value > *before * kGrown) return true;
    before = sample.value;
  }
  return false;
}

}  // namespace

absl::StatusOr<FrozenParameters> FrozenParameters::From(const Run& run) {
  const Trace& trace = run.trace;
  if (trace.ThingsWith(Quantity::kUpdateNorm).empty()) {
    return absl::NotFoundError("the size of parameter updates was not recorded");
  }
  FrozenParameters frozen;
  for (const Span& span : FrozenSpans(trace)) {
    Parameter parameter{trace.Display(span.thing), span.from, {}, GradientGrew(trace, span)};
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kUpdateNorm, span.thing))) {
      if (Within(span, sample)) parameter.steps.push_back({sample.step, sample.value});
    }
    frozen.parameters.push_back(std::move(parameter));
  }
  if (frozen.parameters.empty()) {
    return absl::FailedPreconditionError("no parameter was frozen during the run");
  }
  return frozen;
}

}  // namespace dlcheck
