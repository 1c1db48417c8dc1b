// Writes the records of one process and their side file. Used by the C++ probe and by children of
// dlcheck itself. Records are gathered in memory and written as sealed blocks: when a block is
// full, when one has waited for 50 milliseconds, as a step ends, and at the end. So a process that
// is killed loses what it recorded in its last milliseconds, and its file has no end.
//
// Never harms the program it lives in: nothing is mapped that could vanish, no descriptor is kept,
// and every failure makes it go quiet, saying so where it still can. Safe from several threads; a
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
#include "checks/records/owned_file.h"
#include "checks/records/record.h"

namespace dlcheck {

// File of a run folder, a line each: process, and why it could write no more records.
inline constexpr char kLossesFile[] = "losses";

// Adds a line to it. Best effort: the records themselves cannot be written.
void NoteLoss(const std::string& run_folder, uint32_t process, const std::string& reason);

// Nanoseconds of the monotonic clock.
uint64_t MonotonicTime();

class TraceWriter {
 public:
  struct Options {
    std::string run_folder;      // exists; files go into its folder `records`
    std::string writer = "c++";  // at most 15 bytes
    std::string role = "main";   // at most 15 bytes
    std::string run = "";        // that of the request; empty: of none
    int64_t size_cap_bytes = int64_t{256} << 20;
    uint64_t (*clock)() = &MonotonicTime;
    uint32_t process = 0;  // 0: this process's own id
    uint16_t rank = 0;     // among processes that train together; of every record
  };

  // Creates both files. Errors: Unavailable (no space, no permission), which the run folder is
  // told.
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

  // A step of the program ended: writes what has waited for a while, as the next may never come.
  void EndStep();
  // Writes all that is waiting.
  void Flush();
  // Writes all that is waiting and the end; what is put later is not recorded. Other threads may go
  // on.
  void End();

  // True once scalars should be kept at sampled steps only.
  bool past_half_cap() const { return Bytes() > options_.size_cap_bytes / 2; }
  bool quiet() const { return quiet_; }

 private:
  static Expected<std::unique_ptr<TraceWriter>> TryCreate(const Options& options);
  TraceWriter(const Options& options, OwnedFile records, OwnedFile names);
  int64_t Bytes() const { return records_.size() + static_cast<int64_t>(block_.size()); }
  bool IsInherited() const;
  void PutHeader();
  void GoQuiet(const std::string& reason);
  void Append(Kind kind, uint16_t number, Record fields);
  void AppendUnchecked(Kind kind, uint16_t number, Record fields);
  void AddLine(const std::string& line);
  void FlushIfOlder(uint64_t nanoseconds);
  void WriteEnd();
  void WriteBlock(Kind kind);
  Expected<Done> TryWriteBlock(Kind kind);

  Options options_;
  std::mutex mutex_;
  OwnedFile records_, names_;
  std::string block_, lines_;         // not written yet
  uint32_t sum_ = 0, names_sum_ = 0;  // of what was written
  uint64_t last_flush_ = 0;
  uint64_t wait_;  // nanoseconds from one write to the next; longer after each that failed
  uint64_t sequence_ = 0, sealed_ = 0;  // of the next record, and of the next block's first
  uint64_t generation_;                 // of forks, when this writer was made
  bool quiet_ = false;
  bool ended_ = false;
  std::map<std::tuple<std::string, int, std::string>, uint32_t> things_;
  std::map<std::tuple<std::string, int, std::string>, uint32_t> sites_;
};

}  // namespace dlcheck
