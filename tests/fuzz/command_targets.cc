// What the command is given: results, baselines, configurations, logs of other tools. Refusals
// quote strangers' text as it is; the command shows them through Refuse(), which escapes it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "diagnostics/cli/config/baseline_file.h"
#include "diagnostics/cli/config/configuration.h"
#include "diagnostics/cli/result_file.h"
#include "diagnostics/logs/export.h"
#include "diagnostics/logs/log.h"
#include "diagnostics/series/series.h"
#include "tests/fuzz/promises.h"
#include "tests/fuzz/targets.h"

namespace dlcheck::fuzz {

void ReadResultFile(std::string_view bytes) {
  const std::string json(bytes);
  (void)cli::BaselineOf(json);
  const absl::StatusOr<cli::ReadResult> read = cli::ResultFrom(json);
  if (!read.ok()) return;
  RequireVisible(RenderText(read->report, read->frame));
  const std::string again = RenderJson(read->report, read->frame);
  const absl::StatusOr<cli::ReadResult> reread = cli::ResultFrom(again);
  Require(reread.ok(), "a result that was read can be written and read again");
  Require(RenderJson(reread->report, reread->frame) == again, "it is the same then");
  (void)RenderJunit(read->report, read->frame);
  (void)RenderGithub(read->report);
}

void ReadLogFile(std::string_view bytes) {
  absl::StatusOr<Log> log = ReadLog(std::string(bytes));
  if (!log.ok()) return;
  const size_t before = log->rows.size();
  KeepLatest(*log);
  Require(log->rows.size() <= before, "no number is made up");
  Require(std::ranges::is_sorted(log->rows, {}, &LogRow::step), "steps go up");
  (void)RenderSeries(ReadSeries(RunOf(*log)));
  const absl::StatusOr<Log> again = ReadEventFile(EventFileOf(*log, 0));
  Require(log->rows.empty() || again.ok(), "what is written can be read");
  (void)CsvOf(*log);
}

void ReadBaselineFile(std::string_view bytes) {
  (void)cli::ReadBaseline(FileWith(bytes, "baseline.json"));
}

void ReadConfigurationFile(std::string_view bytes) {
  (void)cli::ReadConfiguration(FileWith(bytes, "dlcheck.toml"));
}

}  // namespace dlcheck::fuzz
