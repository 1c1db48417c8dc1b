#include <algorithm>
#include <map>

#include "checks/engine/text.h"
#include "diagnostics/logs/log.h"
#include "diagnostics/logs/step_names.h"

namespace dlcheck {

void KeepLatest(Log& log) {
  if (std::erase_if(log.rows, [](const LogRow& row) { return row.step < 0; }) > 0) {
    AddFlaw("it has steps below 0, which are left out", log);
  }
  std::map<std::string, std::vector<LogRow>> kept;  // by name, by step
  int64_t last = -1;
  for (LogRow& row : log.rows) {
    std::vector<LogRow>& rows = kept[row.name];
    if (!rows.empty() && rows.back().step > row.step) {
      if (last != row.step) {
        AddFlaw(StrCat("its steps go back from ", rows.back().step, " to ", row.step,
                       ": a restarted run; earlier numbers of these steps are left out"),
                log);
      }
      last = row.step;
      std::erase_if(rows, [&row](const LogRow& other) { return other.step >= row.step; });
    }
    rows.push_back(std::move(row));
  }
  log.rows.clear();
  for (auto& [name, rows] : kept) {
    log.rows.insert(log.rows.end(), std::make_move_iterator(rows.begin()),
                    std::make_move_iterator(rows.end()));
  }
  std::ranges::stable_sort(log.rows, {}, &LogRow::step);
}

}  // namespace dlcheck
