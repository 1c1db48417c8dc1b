// From the folder of one run to a Trace: reads every process's record file and side file, maps
// their numbers by name, and joins things by identity.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/experiment.h"
#include "checks/engine/trace.h"

namespace dlcheck {

// Files of a run folder, beside `records/` and what the launcher puts there.
inline constexpr char kRequestFile[] = "request";
inline constexpr char kEndingFile[] = "ending";

// Reads all records below `run_folder`, finished or still being written: names are read once, so
// the first record that uses a name written after that ends the reading of its file. A file that is
// damaged part of the way is read up to there, and process attribute `damaged` says so. Errors:
// NotFound if nothing was recorded; DataLoss if a file is damaged beyond use; InvalidArgument if it
// is foreign or newer. Cost: one pass; about 45 bytes of memory a record.
absl::StatusOr<Trace> ReadTrace(const std::string& run_folder);

// "finished", "killed", ...: the word in ending files and results; kTruncated for an unknown word.
std::string_view EndingName(Ending::How how);
Ending::How EndingNamed(std::string_view name);

// How the launcher wrote that a run ended; kTruncated if it did not.
Ending ReadEnding(const std::string& run_folder);
absl::Status WriteEnding(const std::string& run_folder, const Ending& ending);

struct RecordedRun {
  Experiment experiment;
  Run run;
};

// One run folder with its request and ending; a folder without a request counts as a plain run.
absl::StatusOr<RecordedRun> ReadRecordedRun(const std::string& run_folder);

}  // namespace dlcheck
