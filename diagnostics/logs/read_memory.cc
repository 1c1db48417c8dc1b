// A memory snapshot of PyTorch (torch.cuda.memory._dump_snapshot). Source: the documentation of
// torch.cuda.memory._snapshot.
#include <algorithm>
#include <map>

#include "checks/engine/text.h"
#include "checks/records/names.h"
#include "diagnostics/logs/log.h"
#include "diagnostics/logs/pickle.h"
#include "diagnostics/logs/step_names.h"

namespace dlcheck {
namespace {

constexpr double kMebibytesOfByte = 1.0 / (1 << 20);
constexpr size_t kParts = 20;       // of the history, with a row each
constexpr size_t kMostLines = 100;  // of the program

// "FILE:LINE" of a frame. One that the profiler made has both in its name, as "train.py(41): main".
std::string FramePlaceOf(const Pickled& frame) {
  const std::string file = TextOf(At(frame, "filename"));
  const std::string name = TextOf(At(frame, "name"));
  const size_t open = name.find(".py("), close = name.find(')', open);
  if (file == "none" && open != std::string::npos && close != std::string::npos) {
    return StrCat(name.substr(0, open + 3), ":", name.substr(open + 4, close - open - 4));
  }
  return StrCat(file, ":", IntegerOf(At(frame, "line")));
}

bool IsOfProgram(const std::string& place) {
  const bool is_python = place.find(".py:") != std::string::npos || place.starts_with("<");
  return is_python && place.find("/torch/") == std::string::npos && !place.starts_with("torch/");
}

// The innermost frame that is the program's own, else the innermost.
std::string LineOf(const PickledList& frames) {
  std::string innermost;
  for (const PickledRef& frame : frames) {
    const std::string line = FramePlaceOf(*frame);
    if (innermost.empty()) innermost = line;
    if (IsOfProgram(line)) return line;
  }
  return innermost.empty() ? "lines without a stack" : innermost;
}

struct Block {
  double size = 0;
  std::string line;
};

// What is allocated at a time in the history of one device.
class History {
 public:
  void Take(const Pickled& entry) {
    const std::string action = TextOf(At(entry, "action"));
    const int64_t address = IntegerOf(At(entry, "addr"));
    const auto size = static_cast<double>(IntegerOf(At(entry, "size")));
    if (action == "alloc") {
      Free(address);
      Block& block = live_[address] = {size, LineOf(ListOf(At(entry, "frames")))};
      by_line_[block.line] += size;
      allocated_ += size;
    } else if (action == "free_requested" || action == "free_completed") {
      Free(address);
    } else if (action == "segment_alloc") {
      reserved_ += size;
    } else if (action == "segment_free") {
      reserved_ -= size;
    }
  }

  void AddRows(int64_t part, std::map<std::string, std::map<int64_t, double>>& lines,
               Log& log) const {
    log.rows.push_back({part, "allocated MiB", allocated_ * kMebibytesOfByte});
    if (reserved_ > 0) log.rows.push_back({part, "reserved MiB", reserved_ * kMebibytesOfByte});
    for (const auto& [line, size] : by_line_) lines[line][part] = size * kMebibytesOfByte;
  }

 private:
  // What was allocated before the history began is not known.
  void Free(int64_t address) {
    const auto block = live_.find(address);
    if (block == live_.end()) return;
    by_line_[block->second.line] -= block->second.size;
    allocated_ -= block->second.size;
    live_.erase(block);
  }

  std::map<int64_t, Block> live_;  // by address
  std::map<std::string, double> by_line_;
  double allocated_ = 0, reserved_ = 0;
};

// Of several devices, that with the longest history.
const PickledList& LongestOf(const PickledList& traces) {
  const auto longest = std::ranges::max_element(
      traces, {}, [](const PickledRef& trace) { return ListOf(trace.get()).size(); });
  return ListOf(longest == traces.end() ? nullptr : longest->get());
}

void AddHistory(const PickledList& entries, Log& log) {
  History history;
  std::map<std::string, std::map<int64_t, double>> lines;
  for (size_t part = 0; part < kParts; ++part) {
    const size_t begin = part * entries.size() / kParts, end = (part + 1) * entries.size() / kParts;
    for (size_t i = begin; i < end; ++i) history.Take(*entries[i]);
    history.AddRows(static_cast<int64_t>(part), lines, log);
  }
  std::vector<std::pair<double, std::string>> largest;
  for (const auto& [line, sizes] : lines) largest.emplace_back(sizes.rbegin()->second, line);
  std::ranges::sort(largest, std::greater<>());
  if (largest.size() > kMostLines) largest.resize(kMostLines);
  for (const auto& [size, line] : largest) {
    for (size_t part = 0; part < kParts; ++part) {
      const auto found = lines[line].find(static_cast<int64_t>(part));
      const double held = found == lines[line].end() ? 0 : found->second;
      log.rows.push_back({static_cast<int64_t>(part), StrCat(kMemoryOf, line), held});
    }
  }
}

void AddSegments(const PickledList& segments, Log& log) {
  double allocated = 0, reserved = 0;
  for (const PickledRef& segment : segments) {
    allocated += static_cast<double>(IntegerOf(At(*segment, "allocated_size")));
    reserved += static_cast<double>(IntegerOf(At(*segment, "total_size")));
  }
  log.rows.push_back({0, "allocated MiB", allocated * kMebibytesOfByte});
  log.rows.push_back({0, "reserved MiB", reserved * kMebibytesOfByte});
}

}  // namespace

absl::StatusOr<Log> ReadMemorySnapshot(const std::string& bytes) {
  const absl::StatusOr<PickledRef> snapshot = ParsePickle(bytes);
  if (!snapshot.ok()) return snapshot.status();
  const Pickled* segments = At(**snapshot, "segments");
  const Pickled* traces = At(**snapshot, "device_traces");
  if (segments == nullptr && traces == nullptr) {
    return absl::InvalidArgumentError("it is a pickle, but no memory snapshot of PyTorch");
  }
  Log log{.kind = kMemorySnapshot};
  const PickledList& entries = LongestOf(ListOf(traces));
  if (entries.size() >= kParts) {
    AddHistory(entries, log);
  } else {
    AddSegments(ListOf(segments), log);
    AddFlaw("it has no history: call torch.cuda.memory._record_memory_history() first", log);
  }
  return log;
}

}  // namespace dlcheck
