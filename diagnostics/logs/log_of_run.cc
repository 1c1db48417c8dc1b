#include <algorithm>

#include "checks/engine/text.h"
#include "diagnostics/logs/export.h"
#include "diagnostics/series/collected.h"

namespace dlcheck {

Log LogOf(const Run& run) {
  Log log{.kind = "run of dlcheck"};
  for (const Collected& one : CollectSamples(run.trace)) {
    std::string name = one.rank == 0 ? "" : StrCat("rank", one.rank, "/");
    if (one.quantity != "metric") name += one.quantity;
    if (one.quantity != "metric" && !one.thing.empty()) name += "/";
    name += one.thing;
    for (const StepValue& sample : one.samples) {
      log.rows.push_back({.step = sample.step, .name = name, .value = sample.value});
    }
  }
  std::ranges::stable_sort(log.rows, {}, &LogRow::step);
  return log;
}

}  // namespace dlcheck
