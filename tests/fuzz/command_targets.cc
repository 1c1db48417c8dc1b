// What the command is given: results, baselines, configurations. Refusals quote strangers' text as
// it is; the command shows them through Refuse(), which escapes it.
#include <nlohmann/json.hpp>

#include "diagnostics/cli/config/baseline_file.h"
#include "diagnostics/cli/config/configuration.h"
#include "diagnostics/cli/result_file.h"
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

void ReadBaselineFile(std::string_view bytes) {
  (void)cli::ReadBaseline(FileWith(bytes, "baseline.json"));
}

void ReadConfigurationFile(std::string_view bytes) {
  (void)cli::ReadConfiguration(FileWith(bytes, "dlcheck.toml"));
}

}  // namespace dlcheck::fuzz
