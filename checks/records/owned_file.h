// A file that only this process appends to, in a program that is not ours. No descriptor is kept:
// a program may close all that it did not open, and get the same number for a file of its own. So
// the file is opened anew for each write, and written only where it still is the one that was made.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "checks/records/expected.h"

namespace dlcheck {

class OwnedFile {
 public:
  // Makes `path`, which must not be there yet. Errors: Invalid if it is; Unavailable.
  static Expected<OwnedFile> Create(const std::string& path);

  // Writes all of `bytes` behind what was appended before; on an error nothing counts as written.
  // Where `ahead` is not 0, space is taken in pieces of so many bytes, so that a disk that is full
  // is met between two pieces; Close gives back what is left. Errors: Unavailable, which may pass
  // (no free descriptor); Damaged if somebody removed, replaced or cut the file.
  Expected<Done> Append(std::string_view bytes, int64_t ahead = 0);

  // Gives back space taken ahead. Errors: as of Append.
  Expected<Done> Close();

  int64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  OwnedFile(std::string path, dev_t device, ino_t inode)
      : path_(std::move(path)), device_(device), inode_(inode) {}
  Expected<int> Open() const;
  Expected<Done> Reserve(int file, int64_t end, int64_t ahead);

  Expected<bool> IsOurs(int file, const struct stat& info) const;

  std::string path_;
  std::string head_;  // what it begins with: a removed file's number is given to a new one
  dev_t device_;
  ino_t inode_;
  int64_t size_ = 0;
  int64_t reserved_ = 0;  // bytes that the file has on its disk
};

}  // namespace dlcheck
