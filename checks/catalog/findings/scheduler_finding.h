// A finding about one scheduler over the whole run.
#pragma once

#include <string>
#include <utility>

#include "checks/engine/check.h"
#include "checks/engine/text.h"
#include "checks/signals/schedule/schedulers.h"

namespace dlcheck {

inline Finding FindingAbout(const Schedulers& schedulers, const Schedulers::Scheduler& scheduler,
                            Severity severity, std::string message, double measured, double bound) {
  return {.severity = severity,
          .message = std::move(message),
          .places = {{.thing = scheduler.name, .file = ""}},
          .first_step = scheduler.moves.empty() ? 0 : scheduler.moves.front().step,
          .last_step = schedulers.calls - 1,
          .count = 1,
          .measured = measured,
          .bound = bound};
}

inline std::string JudgedSchedulers(const Schedulers& schedulers) {
  return StrCat(Counted(static_cast<int64_t>(schedulers.schedulers.size()), "scheduler"), ", ",
                Counted(schedulers.calls, "step call"));
}

}  // namespace dlcheck
