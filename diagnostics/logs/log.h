// Logs of training runs that dlcheck did not watch: numbers by step and name, whatever tool wrote
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct LogRow {
  int64_t step = 0;
  std::string name;
  double value = 0;
};

struct Log {
  std::string kind;                     // "TensorBoard event file"
  std::vector<LogRow> rows = {};        // in the order written
  std::vector<std::string> flaws = {};  // "line 812 is cut off", at most kMostFlaws
};

inline constexpr size_t kMostFlaws = 8;
inline constexpr char kMemorySnapshot[] = "memory snapshot of PyTorch";
inline constexpr char kProfilerTrace[] = "trace of the PyTorch profiler";
// Names of what a trace says of each step.
inline constexpr char kIdleName[] = "idle share of the accelerator";
inline constexpr char kWaitsName[] = "waits for the accelerator";

// Each reads a whole file. What cannot be read is a flaw of the log where the rest can be. Errors:
// InvalidArgument where nothing can be.
absl::StatusOr<Log> ReadCsvLog(const std::string& text);
absl::StatusOr<Log> ReadJsonLinesLog(const std::string& text);
absl::StatusOr<Log> ReadTrainerState(const std::string& text);     // of transformers
absl::StatusOr<Log> ReadEventFile(const std::string& bytes);       // of TensorBoard
absl::StatusOr<Log> ReadWandbFile(const std::string& bytes);       // of an offline run of W&B
absl::StatusOr<Log> ReadMemorySnapshot(const std::string& bytes);  // a pickle of PyTorch
absl::StatusOr<Log> ReadProfilerTrace(const std::string& text);
absl::StatusOr<Log> ReadMlflowMetric(const std::string& text);  // one of a run; rows have no name

// Looks at the content, and reads it by its kind. Errors: InvalidArgument if it is of no kind.
absl::StatusOr<Log> ReadLog(const std::string& content);

// Where a name's steps go back, as in a run that was restarted, its later rows replace the earlier
// ones from there on; says so in `flaws`. Sorts by step.
void KeepLatest(Log& log);

// The same numbers as the records of a run, for checks and reports: `loss`, `evaluation_loss` and
// `learning_rate` under the names that programs usually give them, `step_time` between steps with a
// time and no evaluation between them, all others as metrics.
Run RunOf(const Log& log);

// Of a name in a log: what RunOf makes of it. Times are in seconds, from any beginning.
enum class Role : uint8_t {
  kTrainingLoss,
  kEvaluationLoss,
  kLearningRate,
  kTime,
  kDeviceIdle,
  kHostReads,
  kMetric
};
Role RoleOf(const std::string& name);

}  // namespace dlcheck
