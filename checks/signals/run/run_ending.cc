#include "checks/signals/run/run_ending.h"

#include <algorithm>
#include <map>

#include "absl/strings/numbers.h"
#include "checks/engine/whole.h"

namespace dlcheck {
namespace {

int LineOf(std::string_view text) {
  int line = 0;
  return absl::SimpleAtoi(std::string(text), &line) ? line : 0;
}

}  // namespace

absl::StatusOr<RunEnding> RunEnding::From(const Run& run) {
  RunEnding result{.ending = run.ending,
                   .steps = 0,
                   .may_be_cut = run.MayBeCut(),
                   .rejected_file = "",
                   .rejected_cause = "",
                   .exception = std::string(run.trace.ProcessAttribute("exception")),
                   .exception_file = std::string(run.trace.ProcessAttribute("exception_file")),
                   .exception_line = LineOf(run.trace.ProcessAttribute("exception_line")),
                   .model = std::string(run.trace.ProcessAttribute("declared.model"))};
  std::map<uint16_t, int64_t> steps;  // by process
  for (const Occurrence& event : run.trace.Events()) {
    if (event.event == Event::kStep) {
      int64_t& made = steps[event.rank] += Whole(event.count);
      result.steps = std::max(result.steps, made);
    }
    if (event.event == Event::kInputRejected) {
      result.rejected_file = run.trace.thing(event.thing).name;
      result.rejected_cause = std::string(run.trace.Attribute(event.thing, "cause"));
    }
  }
  return result;
}

}  // namespace dlcheck
