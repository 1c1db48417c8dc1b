// `dlcheck report [DIR]`: renders a result again, without its records.
#include <cstdio>
#include <filesystem>

#include "checks/engine/status.h"
#include "checks/records/line_file.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/options.h"
#include "diagnostics/cli/config/outputs.h"
#include "diagnostics/cli/excerpts.h"
#include "diagnostics/cli/kept_samples.h"
#include "diagnostics/cli/result_file.h"
#include "diagnostics/cli/terminal.h"

namespace dlcheck::cli {
namespace {

// None in a folder of a version that wrote none.
absl::StatusOr<SeriesOfRun> SeriesIn(const std::string& folder) {
  const Expected<std::string> json = ReadWholeFile(folder + "/series.json", kMostResultBytes);
  if (json.ok()) return ParseSeries(*json);
  if (json.failure().cause == Failure::Cause::kNotFound) return SeriesOfRun();
  return absl::InvalidArgumentError(json.failure().message);
}

absl::StatusOr<std::vector<Output>> OutputsFrom(const std::vector<std::string>& texts) {
  std::vector<Output> outputs;
  for (const std::string& text : texts) {
    DLCHECK_ASSIGN_OR_RETURN(Output output, OutputFrom(text));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace

int ReportMain(const Words& words) {
  std::string path = "dlcheck-out";
  std::vector<std::string> texts;
  bool show_skipped = false;
  std::string color = "auto";
  CommandLine line("report [OPTIONS] [DIR]",
                   "Renders the result of an earlier run again. Exits as that run did.");
  line.Value("DIR", "DIR", &path, "an output folder of dlcheck run (dlcheck-out)");
  line.Value("--report", "FORMAT[=FILE]", &texts,
             "also write json=FILE, html=FILE, ...; an unknown FORMAT lists all");
  line.Flag("--show-skipped", &show_skipped, "list each check without a verdict, and the reason");
  AddColorOption(line, color);
  if (const auto code = line.Parse(words)) return *code;
  const absl::StatusOr<std::vector<Output>> outputs = OutputsFrom(texts);
  if (!outputs.ok()) return Refuse(outputs.status());
  const std::string file = path + "/result.json";
  const Expected<std::string> json = ReadWholeFile(file, kMostResultBytes);
  if (!json.ok()) return Refuse(absl::InvalidArgumentError(json.failure().message));
  absl::StatusOr<ReadResult> read = ResultFrom(*json);
  if (!read.ok()) return Refuse(read.status());
  read->frame.result_path = file;
  read->frame.with_reasons = show_skipped;
  std::error_code unknown;
  read->frame.folder = std::filesystem::current_path(unknown).string();
  read->frame.excerpts = ExcerptsOf(read->report);
  read->frame.samples = SamplesIn(path);
  const absl::StatusOr<SeriesOfRun> series = SeriesIn(path);
  Print(
      stderr, [&] { return RenderText(read->report, read->frame); }, color);
  for (const Output& output : *outputs) {
    const bool draws = output.format == Output::Format::kHtml;
    if (draws && !series.ok()) return Refuse(series.status());
    const absl::Status written =
        Write(output, read->report, read->frame, series.ok() ? *series : SeriesOfRun());
    if (!written.ok()) return Refuse(written);
  }
  return read->frame.exit_code;
}

}  // namespace dlcheck::cli
