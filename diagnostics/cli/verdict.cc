#include "diagnostics/cli/verdict.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "checks/engine/clock.h"
#include "checks/engine/status.h"
#include "checks/records/line_file.h"
#include "diagnostics/cli/config/baseline_file.h"
#include "diagnostics/cli/excerpts.h"
#include "diagnostics/cli/github_actions.h"
#include "diagnostics/cli/kept_samples.h"
#include "diagnostics/cli/redacted.h"
#include "diagnostics/cli/terminal.h"
#include "diagnostics/cli/unobserved.h"
#include "diagnostics/exit_code.h"
#include "diagnostics/render/render.h"
#include "diagnostics/series/sparkline.h"
#include "diagnostics/set_aside.h"

namespace dlcheck::cli {
namespace {

absl::Status WriteBaseline(const std::string& result_json, const std::string& path) {
  DLCHECK_ASSIGN_OR_RETURN(const std::string baseline, BaselineOf(result_json));
  const Expected<Done> written = WriteWholeFile(path, baseline);
  return written.ok() ? absl::OkStatus() : ToStatus(written.failure());
}

// What stands beside the report.
Frame FrameOf(const Report& report, const Choice& choice, const OutputFolder* folder,
              const Occasion& occasion) {
  const Exit exit = ExitOf(report, {.fail_on = choice.fail_on,
                                    .required = choice.required,
                                    .partial = choice.partial,
                                    .interrupted = occasion.interrupted});
  std::error_code unknown;
  Frame frame{.command = Redacted(occasion.command),
              .folder = std::filesystem::current_path(unknown).string(),
              .exit_code = exit.code,
              .exit_reason = exit.reason,
              .fail_on = choice.fail_on,
              .with_reasons = choice.show_skipped,
              .new_only = choice.new_only,
              .tried = occasion.tried,
              .started = absl::FormatTime(occasion.started),
              .wall_seconds = absl::ToDoubleSeconds(MonotonicNow() - occasion.began)};
  if (report.recording.empty && folder != nullptr) {
    frame.unobserved =
        WhyUnobserved(occasion.command, folder->Runs().value_or(std::vector<std::string>()));
  }
  return frame;
}

SeriesOfRun PlainSeries(const Evidence& evidence) {
  const Run* plain = evidence.RunOf(kPlain);
  return plain == nullptr ? SeriesOfRun() : ReadSeries(*plain);
}

// The verdict stands without these two files: what keeps them from being written is said, no more.
bool WritePage(const Report& report, const Frame& frame, const SeriesOfRun& series,
               const OutputFolder& folder) {
  absl::Status written = folder.WriteBeside("series.json", RenderSeries(series));
  if (written.ok()) written = folder.WriteBeside("report.html", RenderHtml(report, frame, series));
  if (!written.ok()) Refuse(written);
  return written.ok();
}

}  // namespace

Report JudgeAs(const Choice& choice, const Evidence& evidence) {
  Report report = JudgeAll(evidence, choice.checks, choice.settings);
  SetAside(choice.exemptions, report);
  return report;
}

int Deliver(const Report& report, const Evidence& evidence, const Choice& choice,
            const OutputFolder* folder, const Occasion& occasion) {
  Frame frame = FrameOf(report, choice, folder, occasion);
  frame.excerpts = ExcerptsOf(report);
  if (folder != nullptr) frame.samples = SamplesIn(folder->path());
  if (choice.samples && frame.samples.empty()) {
    std::fprintf(stderr, "dlcheck  --samples: none were kept, no model of the program trained\n");
  }
  frame.environment = EnvironmentOf(evidence);
  const SeriesOfRun series = PlainSeries(evidence);
  frame.loss = LossLine(series);
  const std::string json = RenderJson(report, frame);
  if (occasion.write_result && folder != nullptr) {
    const absl::Status written = folder->WriteResult(json);
    frame.result_path = written.ok() ? choice.output_dir + "/result.json" : "";
    if (!written.ok()) Refuse(written);
    frame.page_path =
        WritePage(report, frame, series, *folder) ? choice.output_dir + "/report.html" : "";
  }
  Print(
      stderr, [&] { return RenderText(report, frame); }, choice.color);
  if (choice.write_baseline) {
    const absl::Status written = WriteBaseline(json, *choice.write_baseline);
    if (!written.ok()) return Refuse(written);
  }
  for (const Output& output : choice.reports) {
    const absl::Status written = Write(output, report, frame, series);
    if (!written.ok()) return Refuse(written);
  }
  const bool annotated = std::ranges::any_of(choice.reports, [](const Output& output) {
    return output.format == Output::Format::kGithub && output.file.empty();
  });
  ReportToGithubActions(report, frame, annotated);
  return frame.exit_code;
}

}  // namespace dlcheck::cli
