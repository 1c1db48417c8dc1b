#include "checks/engine/trace_reader.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "checks/engine/process_reader.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/records/line_file.h"
#include "checks/records/record_reader.h"
#include "checks/records/trace_writer.h"

namespace dlcheck {
namespace {

constexpr size_t kMostLossBytes = size_t{1} << 20;
constexpr size_t kMostLineBytes = size_t{16} << 20;

absl::StatusOr<std::vector<ProcessFiles>> AllFiles(const std::string& run_folder) {
  std::vector<ProcessFiles> all;
  DLCHECK_ASSIGN_OR_RETURN(const std::vector<std::string> stems,
                           ToStatusOr(RecordFileStems(run_folder)));
  for (const std::string& stem : stems) {
    const Expected<ProcessFiles> files = Examine(stem);
    if (files.ok()) {
      all.push_back(*files);
    } else if (files.failure().cause == Failure::Cause::kNewer) {
      return ToStatus(files.failure());
    } else {
      all.push_back({.stem = stem, .damage = files.failure().message});
    }
  }
  // Signals of one process look at the first.
  std::ranges::stable_sort(all, {}, &ProcessFiles::rank);
  return all;
}

// What the launcher saw as the run ended, and what is not there any more.
void CompareWithEnding(const RecordedEnding& recorded, const std::vector<ProcessFiles>& all,
                       Losses& losses) {
  for (const ProcessFiles& then : recorded.processes) {
    const auto now = std::ranges::find_if(
        all, [&](const ProcessFiles& files) { return files.stem.ends_with("/" + then.stem); });
    if (now == all.end()) {
      losses.damaged.push_back(StrCat("the records of process ", then.stem, " are gone"));
    } else if (now->damage.empty() && now->extent.bytes < then.extent.bytes) {
      losses.damaged.push_back(StrCat("'", now->stem, ".records' was cut: it has ",
                                      now->extent.bytes, " of ", then.extent.bytes, " bytes"));
    } else if (now->extent.bytes == then.extent.bytes && !(now->extent.sum == then.extent.sum)) {
      losses.damaged.push_back(StrCat("'", now->stem, ".records' is not what the run wrote"));
    }
  }
}

// Processes whose records have no end, which is a loss where the run ended well. Workers of
// loaders, and daemons that end with the process that started them, may be ended from outside.
void FindUnended(const Ending& ending, const std::vector<ProcessFiles>& all, Losses& losses) {
  for (const ProcessFiles& files : all) {
    const bool may_be_ended = files.role == "worker" || files.role == "daemon";
    if (files.extent.ended || may_be_ended || !files.damage.empty()) continue;
    losses.cut = true;
    if (ending.how != Ending::How::kFinished) continue;
    losses.missing.push_back(StrCat("the records of process ",
                                    files.stem.substr(files.stem.rfind('/') + 1),
                                    " stop before it ended"));
  }
}

// What probes that could not write their records could still say.
void AddNotedLosses(const std::string& run_folder, Losses& losses) {
  const Expected<std::string> text =
      ReadWholeFile(StrCat(run_folder, "/", kLossesFile), kMostLossBytes);
  if (!text.ok()) return;
  for (const LineFields& fields : ParseLines(*text)) {
    if (fields.size() < 2) continue;
    losses.missing.push_back(StrCat("process ", fields[0], ": ", fields[1]));
  }
}

SourceLines SourceLinesOf(const std::string& run_folder) {
  SourceLines lines;
  const Expected<std::string> text =
      ReadWholeFile(StrCat(run_folder, "/", kLinesFile), kMostLineBytes);
  if (!text.ok()) return lines;
  for (const LineFields& fields : ParseLines(*text)) {
    if (fields.size() < 4) continue;
    NamedSite& site = lines[fields[0]];
    site.file = fields[1];
    (void)absl::SimpleAtoi(fields[2], &site.line);
    site.function = fields[3];
  }
  return lines;
}

absl::StatusOr<Request> RequestOf(const std::string& run_folder) {
  absl::StatusOr<Request> request = ToStatusOr(ReadRequest(StrCat(run_folder, "/", kRequestFile)));
  if (absl::IsNotFound(request.status())) return Request{};
  return request;
}

absl::StatusOr<Experiment> ExperimentOf(const Request& request, const std::string& run_folder) {
  if (request.run_folder.empty()) return kPlain;
  const std::optional<Experiment> named = FromRequest(request);
  if (named) return *named;
  return absl::InvalidArgumentError(StrCat("'", run_folder, "' is an experiment '",
                                           request.experiment,
                                           "' that this version does not know"));
}

}  // namespace

absl::StatusOr<RecordedRun> ReadRecordedRun(const std::string& run_folder, const Ending* seen) {
  DLCHECK_ASSIGN_OR_RETURN(const Request request, RequestOf(run_folder));
  DLCHECK_ASSIGN_OR_RETURN(const Experiment experiment, ExperimentOf(request, run_folder));
  RecordedRun recorded{experiment, Run()};
  Run& run = recorded.run;
  DLCHECK_ASSIGN_OR_RETURN(const std::vector<ProcessFiles> all, AllFiles(run_folder));
  const absl::StatusOr<RecordedEnding> ended = ReadEnding(run_folder);
  if (ended.ok()) {
    run.ending = ended->ending;
    CompareWithEnding(*ended, all, run.losses);
    FindUnended(ended->ending, all, run.losses);
  } else if (seen != nullptr) {
    run.ending = *seen;
    FindUnended(*seen, all, run.losses);
  } else if (absl::IsNotFound(ended.status())) {
    if (all.empty() && run.losses.empty() && request.run_folder.empty()) {
      return absl::NotFoundError(StrCat("no records were written below '", run_folder, "'"));
    }
    run.losses.missing.emplace_back(
        "dlcheck ended before the program did, or the run is still going on");
  } else {
    run.losses.damaged.emplace_back(ended.status().message());
  }
  if (seen != nullptr && request.run_folder.empty()) {
    run.losses.missing.push_back(StrCat("'", run_folder, "/", kRequestFile, "' is gone"));
  }
  const SourceLines lines = SourceLinesOf(run_folder);
  for (const ProcessFiles& files : all) Join(files, request.run, lines, run);
  AddNotedLosses(run_folder, run.losses);
  for (const Occurrence& event : run.trace.Events()) {
    if (event.event == Event::kStopped && run.ending.how == Ending::How::kFinished) {
      run.ending.how = Ending::How::kStopped;
    }
  }
  return recorded;
}

}  // namespace dlcheck
