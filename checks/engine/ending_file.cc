#include "checks/engine/ending_file.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/records/checked_lines.h"
#include "checks/records/line_file.h"

namespace dlcheck {
namespace {

constexpr std::pair<Ending::How, std::string_view> kEndings[] = {
    {Ending::How::kFinished, "finished"}, {Ending::How::kFailed, "failed"},
    {Ending::How::kKilled, "killed"},     {Ending::How::kDeadline, "deadline"},
    {Ending::How::kStopped, "stopped"},   {Ending::How::kTruncated, "truncated"},
};

constexpr size_t kLimitBytes = size_t{4} << 20;

std::string LineOf(const ProcessFiles& files) {
  const Extent& extent = files.extent;
  return FormatLine({"process", files.stem.substr(files.stem.rfind('/') + 1), StrCat(extent.bytes),
                     StrCat(extent.sum), StrCat(extent.names), StrCat(extent.names_sum)});
}

bool Take(const LineFields& fields, RecordedEnding& recorded) {
  Ending& ending = recorded.ending;
  if (fields[0] == "status") return absl::SimpleAtoi(fields[1], &ending.status);
  if (fields[0] == "stopped_by") ending.stopped_by = fields[1];
  if (fields[0] == "how") ending.how = EndingNamed(fields[1]);
  if (fields[0] != "process") return true;
  ProcessFiles files{.stem = fields[1]};
  recorded.processes.push_back(files);
  Extent& extent = recorded.processes.back().extent;
  return fields.size() >= 6 && absl::SimpleAtoi(fields[2], &extent.bytes) &&
         absl::SimpleAtoi(fields[3], &extent.sum) && absl::SimpleAtoi(fields[4], &extent.names) &&
         absl::SimpleAtoi(fields[5], &extent.names_sum);
}

}  // namespace

std::string_view EndingName(Ending::How how) {
  for (const auto& [value, word] : kEndings) {
    if (value == how) return word;
  }
  return "";
}

Ending::How EndingNamed(std::string_view name) {
  for (const auto& [how, word] : kEndings) {
    if (word == name) return how;
  }
  return Ending::How::kTruncated;
}

absl::StatusOr<RecordedEnding> ReadEnding(const std::string& run_folder) {
  const std::string path = StrCat(run_folder, "/", kEndingFile);
  DLCHECK_ASSIGN_OR_RETURN(const std::string text, ToStatusOr(ReadWholeFile(path, kLimitBytes)));
  DLCHECK_ASSIGN_OR_RETURN(const std::string lines, ToStatusOr(WithoutCheck(text, path)));
  RecordedEnding recorded;
  bool says_how = false;
  for (const LineFields& fields : ParseLines(lines)) {
    if (fields.size() >= 2 && !Take(fields, recorded)) {
      return absl::DataLossError(StrCat("'", path, "' is damaged at line ", fields[0]));
    }
    says_how = says_how || fields[0] == "how";
  }
  if (!says_how) return absl::DataLossError(StrCat("'", path, "' does not say how a run ended"));
  return recorded;
}

absl::Status WriteEnding(const std::string& run_folder, const Ending& ending) {
  std::string text =
      FormatLine({"how", EndingName(ending.how)}) + FormatLine({"status", StrCat(ending.status)});
  if (!ending.stopped_by.empty()) text += FormatLine({"stopped_by", ending.stopped_by});
  DLCHECK_ASSIGN_OR_RETURN(const std::vector<std::string> stems,
                           ToStatusOr(RecordFileStems(run_folder)));
  for (const std::string& stem : stems) {
    const Expected<ProcessFiles> files = Examine(stem);
    if (files.ok()) text += LineOf(*files);
  }
  const Expected<Done> done =
      WriteWholeFile(StrCat(run_folder, "/", kEndingFile), WithCheck(text), 0600);
  return done.ok() ? absl::OkStatus() : ToStatus(done.failure());
}

}  // namespace dlcheck
