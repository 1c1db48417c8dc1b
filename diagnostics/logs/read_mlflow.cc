// A metric of an MLflow run that is kept in files: lines of a time in milliseconds, a value and a
// step. Source: mlflow/store/tracking/file_store.py of the mlflow package.
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "checks/engine/text.h"
#include "diagnostics/logs/log.h"
#include "diagnostics/logs/step_names.h"

namespace dlcheck {

absl::StatusOr<Log> ReadMlflowMetric(const std::string& text) {
  Log log{.kind = "run of MLflow"};
  size_t number = 0;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    ++number;
    if (line.empty()) continue;
    const std::vector<std::string> cells = absl::StrSplit(line, ' ');
    LogRow row;
    double time = 0;
    if (cells.size() < 3 || !absl::SimpleAtod(cells[0], &time) ||
        !absl::SimpleAtod(cells[1], &row.value) || !absl::SimpleAtoi(cells[2], &row.step)) {
      AddFlaw(StrCat("line ", number, " is no time, value and step"), log);
      continue;
    }
    log.rows.push_back({row.step, "wall_time", time / 1000});
    log.rows.push_back(std::move(row));
  }
  if (log.rows.empty()) return absl::InvalidArgumentError("its lines are no metric of MLflow");
  return log;
}

}  // namespace dlcheck
