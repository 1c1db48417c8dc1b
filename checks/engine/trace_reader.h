// From the folder of one run to a Trace and what it lacks: joins the files of all processes, and
// compares them with what the launcher saw as the run ended.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "checks/engine/ending_file.h"
#include "checks/engine/experiment.h"
#include "checks/engine/trace.h"

namespace dlcheck {

inline constexpr char kRequestFile[] = "request";  // of a run folder

struct RecordedRun {
  Experiment experiment;
  Run run;
};

// One run folder, finished or still being written; without a request it counts as a plain run.
// A file that is damaged part of the way is read up to there, and `run.losses` says so. `seen` is
// how the run ended, where the caller saw that: it stands where no ending can be read. Errors:
// NotFound if nothing was recorded and nothing ended; InvalidArgument if a file is foreign, of
// another version of the format, or an experiment that this version does not know; DataLoss if the
// request is damaged; Unavailable if the records cannot be listed. Cost: two passes over the record
// files; about 45 bytes of memory a record.
absl::StatusOr<RecordedRun> ReadRecordedRun(const std::string& run_folder,
                                            const Ending* seen = nullptr);

}  // namespace dlcheck
