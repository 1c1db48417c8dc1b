#include <cstring>

#include "diagnostics/logs/log.h"

namespace dlcheck {
namespace {

constexpr size_t kLooked = 4096;  // bytes

// The first record of an event file holds a version, and is short.
bool LooksLikeEvents(const std::string& content) {
  uint64_t size = 0;
  if (content.size() < 16) return false;
  std::memcpy(&size, content.data(), sizeof(size));
  return size > 0 && size < 1024 && content.size() >= 16 + size && content[12] == '\x09';
}

bool IsText(std::string_view some) { return some.find('\0') == std::string_view::npos; }

}  // namespace

absl::StatusOr<Log> ReadLog(const std::string& content) {
  if (content.empty()) return absl::InvalidArgumentError("it is empty");
  if (content.starts_with("\x1f\x8b")) {
    return absl::InvalidArgumentError("it is compressed; unpack it by gunzip first");
  }
  if (content.size() > 2 && content[0] == '\x80' && content[1] >= 2 && content[1] <= 5) {
    return ReadMemorySnapshot(content);
  }
  if (content.starts_with(":W&B")) return ReadWandbFile(content);
  if (LooksLikeEvents(content)) return ReadEventFile(content);
  const std::string_view some = std::string_view(content).substr(0, kLooked);
  const size_t first = some.find_first_not_of(" \t\r\n");
  if (IsText(some) && first != std::string_view::npos) {
    if (some[first] == '{' && content.find("\"log_history\"") != std::string::npos) {
      return ReadTrainerState(content);
    }
    if (some[first] == '{' && content.find("\"traceEvents\"") != std::string::npos) {
      return ReadProfilerTrace(content);
    }
    if (some[first] == '{') return ReadJsonLinesLog(content);
    const std::string_view line = some.substr(0, some.find('\n'));
    if (line.find(',') != std::string_view::npos) return ReadCsvLog(content);
    if (line.find_first_not_of("0123456789.+-eEinfa \r") == std::string_view::npos) {
      return ReadMlflowMetric(content);
    }
  }
  return absl::InvalidArgumentError(
      "it is no log that dlcheck reads: CSV, JSON lines, trainer_state.json, a TensorBoard event "
      "file, a run of W&B or MLflow, or a trace of the profiler or a memory snapshot of PyTorch");
}

}  // namespace dlcheck
