// Reads the record file of one process, front to back, trusting nothing: foreign, torn and damaged
// files end in a reason, never in a crash. Gives records of sealed blocks alone, whose sums are
// right. Safe on a file that is still being written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/records/expected.h"
#include "checks/records/record.h"

namespace dlcheck {

// How much of the files of a process is whole: what the last seal that was read says.
struct Extent {
  uint64_t bytes = 0;  // of the record file
  uint32_t sum = 0;
  uint64_t names = 0;  // bytes of the side file
  uint32_t names_sum = 0;
  bool ended = false;  // the writer was closed, so that nothing is missing behind

  bool operator==(const Extent& other) const {
    return bytes == other.bytes && sum == other.sum && names == other.names &&
           names_sum == other.names_sum && ended == other.ended;
  }
};

class RecordReader {
 public:
  // Errors: NotFound, Unavailable; Invalid if it is not a record file; Damaged if it ends inside
  // its header; Newer, also if it is older than what this version reads.
  static Expected<RecordReader> Open(const std::string& path);
  RecordReader(RecordReader&& other) noexcept;
  RecordReader& operator=(RecordReader&& other) noexcept;
  ~RecordReader();

  const FileHeader& header() const { return header_; }

  // The next record, or false at the end of what was written.
  // Errors: Damaged, with the position, when a block is not as it was written.
  Expected<bool> Next(Record& record);

  // Of the blocks up to here.
  const Extent& extent() const { return extent_; }

 private:
  RecordReader(std::string path, int file) : path_(std::move(path)), file_(file) {}
  Expected<Record> Slot();
  Expected<bool> ReadBlock();
  Expected<bool> Sealed(const Record& last);
  Expected<bool> PassOverZeros();
  Failure Damaged(const std::string& how) const;

  std::string path_;
  int file_;
  FileHeader header_{};
  std::vector<Record> ahead_;  // read and not looked at
  size_t next_ahead_ = 0;
  std::vector<Record> block_;  // of which the sum was right
  size_t at_ = 0;
  uint64_t sequence_ = 0;
  Extent extent_;
};

// Stems (path without `.records`) of all record files of a run, sorted by name; none where nothing
// was recorded. Errors: Unavailable.
Expected<std::vector<std::string>> RecordFileStems(const std::string& run_folder);

}  // namespace dlcheck
