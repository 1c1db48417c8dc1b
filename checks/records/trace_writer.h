// Writes the records of one process: a memory-mapped file that grows by extents, and its side file.
// Used by the C++ probe and by children of dlcheck itself. Never harms the program it lives in:
// every failure makes it go quiet, and the last free slot says so. Safe from several threads; a
// forked child that inherits a writer writes nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

#include "checks/records/expected.h"
#include "checks/records/record.h"

namespace dlcheck {

// Nanoseconds of the monotonic clock.
uint64_t MonotonicTime();

class TraceWriter {
 public:
  struct Options {
    std::string run_folder;      // exists; files go into its folder `records`
    std::string writer = "c++";  // at most 15 bytes
    std::string role = "main";   // at most 15 bytes
    int64_t size_cap_bytes = int64_t{256} << 20;
    uint64_t (*clock)() = &MonotonicTime;
    uint32_t process = 0;  // 0: this process's own id
    uint16_t rank = 0;     // among processes that train together; of every record
  };

  // Creates both files. Errors: Unavailable (no space, no permission).
  static Expected<std::unique_ptr<TraceWriter>> Create(const Options& options);
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  // The id of a thing; the first call writes its name. Cost: one map look-up.
  uint32_t Thing(std::string_view kind, int ordinal, std::string_view name);
  uint32_t Site(std::string_view file, int line, std::string_view function);
  // Of all records from here on.
  void SetRank(uint16_t rank);
  // Thing 0 is the process.
  void Attribute(uint32_t thing, std::string_view key, std::string_view value);

  // Appends a record; kind, sequence and time are filled in here.
  void PutEvent(Event event, Record fields);
  void PutQuantity(Quantity quantity, Record fields);
  void PutGap(Event event, int64_t first_step, int64_t last_step, double count, Record fields);

  // True once scalars should be kept at sampled steps only.
  bool past_half_cap() const { return written_bytes_ > options_.size_cap_bytes / 2; }
  bool quiet() const { return quiet_; }

 private:
  explicit TraceWriter(const Options& options) : options_(options) {}
  std::string CreateRecordFile(const std::string& folder);
  void WriteHeader();
  bool Grow();
  void GoQuiet(const std::string& reason);
  void Append(Kind kind, uint16_t number, Record fields);
  void AppendUnchecked(Kind kind, uint16_t number, Record fields);
  void WriteLine(const std::string& line);

  Options options_;
  std::mutex mutex_;
  int record_file_ = -1;
  int side_file_ = -1;
  char* map_ = nullptr;
  int64_t mapped_bytes_ = 0;
  int64_t written_bytes_ = 0;
  uint64_t sequence_ = 0;
  uint64_t generation_ = 0;  // of forks, when this writer was made
  bool quiet_ = false;
  std::map<std::tuple<std::string, int, std::string>, uint32_t> things_;
  std::map<std::tuple<std::string, int, std::string>, uint32_t> sites_;
};

}  // namespace dlcheck
