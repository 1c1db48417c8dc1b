// The file `ending` of a run folder: how the run ended, and how many bytes each process had
// recorded by then, so that a file cut or removed later is noticed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checks/engine/process_reader.h"
#include "checks/engine/trace.h"

namespace dlcheck {

inline constexpr char kEndingFile[] = "ending";

// "finished", "killed", ...: the word in ending files and results; kTruncated for an unknown word.
std::string_view EndingName(Ending::How how);
Ending::How EndingNamed(std::string_view name);

struct RecordedEnding {
  Ending ending;
  std::vector<ProcessFiles> processes;  // by stem, which holds no folder here; no role nor rank
};

// How the launcher wrote that a run ended. Errors: NotFound if it did not; DataLoss if the file is
// not as it was written.
absl::StatusOr<RecordedEnding> ReadEnding(const std::string& run_folder);

// Examines the records that are there now, and writes all. Cost: one pass over the record files.
// Errors: Unavailable.
absl::Status WriteEnding(const std::string& run_folder, const Ending& ending);

}  // namespace dlcheck
