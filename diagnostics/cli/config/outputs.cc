#include "diagnostics/cli/config/outputs.h"

#include <cstdio>
#include <utility>
#include <vector>

#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/records/line_file.h"
#include "checks/records/nearest.h"

namespace dlcheck::cli {
namespace {

using Format = Output::Format;

constexpr std::pair<const char*, Format> kFormats[] = {
    {"text", Format::kText},     {"json", Format::kJson},       {"junit", Format::kJunit},
    {"github", Format::kGithub}, {"concise", Format::kConcise}, {"jsonl", Format::kJsonLines},
    {"sarif", Format::kSarif},   {"gitlab", Format::kGitlab},   {"markdown", Format::kMarkdown},
    {"html", Format::kHtml}};

std::string Render(Format format, const Report& report, const Frame& frame,
                   const SeriesOfRun& series) {
  switch (format) {
    case Format::kText:
      return RenderText(report, frame);
    case Format::kJson:
      return RenderJson(report, frame);
    case Format::kJunit:
      return RenderJunit(report, frame);
    case Format::kGithub:
      return RenderGithub(report);
    case Format::kConcise:
      return RenderConcise(report, frame);
    case Format::kJsonLines:
      return RenderJsonLines(report);
    case Format::kSarif:
      return RenderSarif(report, frame);
    case Format::kGitlab:
      return RenderGitlab(report, frame);
    case Format::kMarkdown:
      return RenderMarkdown(report, frame);
    case Format::kHtml:
      return RenderHtml(report, frame, series);
  }
  return "";
}

}  // namespace

absl::StatusOr<Output> OutputFrom(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const std::string file = equals == std::string::npos ? "" : text.substr(equals + 1);
  std::vector<std::string> names;
  for (const auto& [known, format] : kFormats) {
    names.emplace_back(known);
    if (name != known) continue;
    // GitHub reads its commands from what a step prints, and an editor lines; the others are files.
    if (file.empty() && format != Format::kGithub && format != Format::kConcise) {
      return absl::InvalidArgumentError(
          StrCat("--report ", name, " needs a file: ", name, "=FILE"));
    }
    return Output{format, file};
  }
  return absl::InvalidArgumentError(StrCat("--report takes ", Listed(names, names.size()),
                                           ", not '", name, "'", DidYouMean(name, names)));
}

absl::Status Write(const Output& output, const Report& report, const Frame& frame,
                   const SeriesOfRun& series) {
  const std::string text = Render(output.format, report, frame, series);
  if (output.file.empty()) {
    std::fputs(text.c_str(), stderr);
    return absl::OkStatus();
  }
  const Expected<Done> written = WriteWholeFile(output.file, text);
  return written.ok() ? absl::OkStatus() : ToStatus(written.failure());
}

}  // namespace dlcheck::cli
