#include "checks/signals/run/stated.h"

#include "checks/engine/text.h"
#include "checks/records/names.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

// Why no C++ program can show this; empty where one could.
std::string_view NotInCpp(Quantity quantity) {
  switch (quantity) {
    case Quantity::kUnscaledHalf:
    case Quantity::kUnscaledEarly:
    case Quantity::kCountedAnyway:
      return "LibTorch has no GradScaler";
    case Quantity::kFrozenByName:
      return "a C++ program cannot misspell a member";
    case Quantity::kUnresetMetric:
    case Quantity::kAveragedMetric:
      return "LibTorch has no metric objects";
    case Quantity::kEditedSamples:
    case Quantity::kMirroredSamples:
    case Quantity::kUndrawnSamples:
      return "data sets of LibTorch are compiled into the program";
    case Quantity::kRaisedCalls:
    case Quantity::kEmptyPasses:
      return "loops of the program itself are machine code";
    case Quantity::kWrongDivisor:
    case Quantity::kMeanOfBatchMeans:
    case Quantity::kScoreThreshold:
    case Quantity::kBroadcastMetric:
    case Quantity::kWorstKept:
      return "metrics of the program itself are machine code";
    case Quantity::kClippedActions:
    case Quantity::kReturnsAcross:
    case Quantity::kTerminalValues:
    case Quantity::kTimeLimitAsEnd:
    case Quantity::kUnkeptActions:
      return "Gymnasium has no C++ interface";
    default:
      return "";
  }
}

// Whether whoever recorded the run looks for this.
bool IsWatched(const Trace& trace, Quantity quantity) {
  if (!trace.ProcessAttribute("python").empty()) return true;
  const bool is_preloaded = !trace.ProcessAttribute("preloaded").empty();
  return is_preloaded && WritersOf(quantity).find('N') != std::string_view::npos;
}

}  // namespace

absl::StatusOr<Statements> StatementsIn(const Run& run, Quantity quantity) {
  const Trace& trace = run.trace;
  if (!IsWatched(trace, quantity) && trace.ThingsWith(quantity).empty()) {
    const std::string_view why = NotInCpp(quantity);
    if (why.empty()) return absl::NotFoundError("only Python programs are watched for this");
    return absl::NotFoundError(StrCat("not in C++: ", why));
  }
  Statements found;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.event == Event::kStep) found.steps += static_cast<int64_t>(event.count);
  }
  if (found.steps == 0 && trace.ThingsWith(quantity).empty()) {
    return absl::NotFoundError("no optimizer step was observed");
  }
  for (const ThingId id : trace.ThingsWith(quantity)) {
    const auto samples = FirstProcess(trace.Series(quantity, id));
    if (samples.empty()) continue;
    const Sample& last = samples.back();
    found.all.push_back({.name = trace.thing(id).name,
                         .value = last.value,
                         .aux = last.aux,
                         .first_step = samples.front().step,
                         .last_step = last.step,
                         .count = static_cast<int64_t>(samples.size()),
                         .site = trace.site(last.site)});
  }
  return found;
}

}  // namespace dlcheck
