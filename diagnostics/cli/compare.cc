// `dlcheck compare A B`: where two runs part, and why.
#include <cstdio>
#include <memory>
#include <vector>

#include "checks/engine/status.h"
#include "checks/engine/trace_reader.h"
#include "checks/records/line_file.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/options.h"
#include "diagnostics/cli/output_folder.h"
#include "diagnostics/cli/result_file.h"
#include "diagnostics/cli/terminal.h"
#include "diagnostics/compare/comparison.h"

namespace dlcheck::cli {
namespace {

// The plain run of an output folder, and its result where there is one.
struct Side {
  std::string name;
  RecordedRun recorded;
  std::unique_ptr<ReadResult> result;

  ComparedRun AsCompared() const {
    return {.name = name,
            .run = &recorded.run,
            .report = result == nullptr ? nullptr : &result->report,
            .command = result == nullptr ? std::vector<std::string>() : result->frame.command};
  }
};

absl::StatusOr<RecordedRun> PlainRunOf(const OutputFolder& folder) {
  DLCHECK_ASSIGN_OR_RETURN(const std::vector<std::string> runs, folder.Runs());
  for (const std::string& run : runs) {
    absl::StatusOr<RecordedRun> recorded = ReadRecordedRun(run);
    if (absl::IsNotFound(recorded.status())) continue;
    if (!recorded.ok()) return recorded.status();
    if (recorded->experiment.name == Experiment::Name::kPlain) return recorded;
  }
  return absl::InvalidArgumentError(folder.path() + " holds no run with records");
}

absl::StatusOr<Side> SideOf(const std::string& path) {
  DLCHECK_ASSIGN_OR_RETURN(const OutputFolder folder, OutputFolder::Open(path));
  Side side{.name = path, .recorded = {}, .result = nullptr};
  DLCHECK_ASSIGN_OR_RETURN(side.recorded, PlainRunOf(folder));
  const Expected<std::string> json = ReadWholeFile(folder.ResultPath(), kMostResultBytes);
  if (!json.ok()) {
    if (json.failure().cause == Failure::Cause::kNotFound) return side;
    return absl::InvalidArgumentError(json.failure().message);
  }
  DLCHECK_ASSIGN_OR_RETURN(ReadResult read, ResultFrom(*json));
  side.result = std::make_unique<ReadResult>(std::move(read));
  return side;
}

absl::StatusOr<std::vector<SeriesOfRun>> SeriesOf(const std::vector<std::string>& paths) {
  std::vector<SeriesOfRun> all;
  for (const std::string& path : paths) {
    DLCHECK_ASSIGN_OR_RETURN(const OutputFolder folder, OutputFolder::Open(path));
    DLCHECK_ASSIGN_OR_RETURN(const RecordedRun recorded, PlainRunOf(folder));
    all.push_back(ReadSeries(recorded.run));
  }
  return all;
}

absl::Status WriteAs(const std::string& output, const Comparison& comparison) {
  const size_t equals = output.find('=');
  const std::string format = output.substr(0, equals);
  const std::string file = equals == std::string::npos ? "" : output.substr(equals + 1);
  std::string text;
  if (format == "json") text = RenderComparisonJson(comparison);
  if (format == "html") text = RenderComparisonHtml(comparison);
  if (format == "text") text = RenderComparison(comparison);
  if (text.empty() || file.empty()) {
    return absl::InvalidArgumentError(
        "--report of compare takes text=FILE, json=FILE or html=FILE, not '" + output + "'");
  }
  const Expected<Done> written = WriteWholeFile(file, text);
  return written.ok() ? absl::OkStatus() : absl::UnavailableError(written.failure().message);
}

struct CompareOptions {
  std::string a, b, fail_on = "error", color = "auto";
  std::vector<std::string> more_a, more_b, reports;
  std::optional<int64_t> offset;
};

absl::StatusOr<int> CompareAs(const CompareOptions& options) {
  DLCHECK_ASSIGN_OR_RETURN(const Side a, SideOf(options.a));
  DLCHECK_ASSIGN_OR_RETURN(const Side b, SideOf(options.b));
  DLCHECK_ASSIGN_OR_RETURN(const std::vector<SeriesOfRun> more_a, SeriesOf(options.more_a));
  DLCHECK_ASSIGN_OR_RETURN(const std::vector<SeriesOfRun> more_b, SeriesOf(options.more_b));
  const Comparison comparison =
      Compare(a.AsCompared(), b.AsCompared(), options.offset, more_a, more_b);
  Print(
      stdout, [&] { return RenderComparison(comparison); }, options.color);
  for (const std::string& output : options.reports) {
    DLCHECK_RETURN_IF_ERROR(WriteAs(output, comparison));
  }
  const Severity fail_on = options.fail_on == "note"      ? Severity::kNote
                           : options.fail_on == "warning" ? Severity::kWarning
                                                          : Severity::kError;
  return ExitCodeOf(comparison, fail_on);
}

}  // namespace

int CompareMain(const Words& words) {
  CompareOptions options;
  CommandLine line("compare [OPTIONS] A B",
                   "Names the first step and quantity in which two runs differ, and the cause.");
  line.Value("A", "A", &options.a, "an output folder of dlcheck run", {.required = true});
  line.Value("B", "B", &options.b, "the other one", {.required = true});
  line.Value("--offset", "STEP", &options.offset,
             "step of A beside the first step of B (found, where B resumes A)");
  line.Value("--more-a", "DIR", &options.more_a,
             "another run of the program of A with another seed; repeatable");
  line.Value("--more-b", "DIR", &options.more_b,
             "another run of the program of B with another seed; repeatable");
  line.Value("--fail-on", "SEVERITY", &options.fail_on,
             "exit 1 for a finding of B that A lacks, at this severity (error)",
             {.choices = {"note", "warning", "error"}});
  line.Value("--report", "FORMAT=FILE", &options.reports,
             "also write text=FILE, json=FILE or html=FILE; repeatable");
  AddColorOption(line, options.color);
  if (const auto code = line.Parse(words)) return *code;
  const absl::StatusOr<int> code = CompareAs(options);
  return code.ok() ? *code : Refuse(code.status());
}

}  // namespace dlcheck::cli
