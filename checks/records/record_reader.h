// Reads the record file of one process, front to back, trusting nothing: foreign, torn and newer
// files end in a reason, never in a crash. Safe on a file that is still being written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/records/expected.h"
#include "checks/records/record.h"

namespace dlcheck {

class RecordReader {
 public:
  // Errors: NotFound, Unavailable; Invalid if it is not a record file; Damaged if it ends inside
  // its header; Newer.
  static Expected<RecordReader> Open(const std::string& path);
  RecordReader(RecordReader&& other) noexcept;
  RecordReader& operator=(RecordReader&& other) noexcept;
  ~RecordReader();

  const FileHeader& header() const { return header_; }

  // The next record, or false at the end of what was written.
  // Errors: Damaged, with the position, when a record cannot be one.
  Expected<bool> Next(Record& record);

 private:
  RecordReader(std::string path, int file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  int file_;
  FileHeader header_{};
  std::vector<Record> block_;
  size_t at_ = 0;
  uint64_t sequence_ = 0;
};

// Stems (path without `.records`) of all record files of a run, sorted by name.
std::vector<std::string> RecordFileStems(const std::string& run_folder);

}  // namespace dlcheck
