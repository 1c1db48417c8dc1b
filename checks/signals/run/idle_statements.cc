#include "checks/signals/run/idle_statements.h"

#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

constexpr double kNotCalled = 1;  // as the probe writes it

}  // namespace

absl::StatusOr<IdleStatements> IdleStatements::From(const Run& run) {
  const Trace& trace = run.trace;
  const bool of_source = !trace.ProcessAttribute("python").empty();
  if (!of_source && trace.ThingsWith(Quantity::kIdleStatement).empty()) {
    return absl::NotFoundError("only the source of Python programs is read");
  }
  IdleStatements found;
  found.of_source = of_source;
  for (const ThingId id : trace.ThingsWith(Quantity::kIdleStatement)) {
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kIdleStatement, id))) {
      auto& list = sample.value == kNotCalled ? found.not_called : found.not_taken;
      list.push_back({trace.thing(id).name, trace.site(sample.site)});
    }
  }
  return found;
}

}  // namespace dlcheck
