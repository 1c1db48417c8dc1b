#include "checks/records/record_reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "checks/records/crc32.h"

namespace dlcheck {
namespace {

constexpr size_t kReadRecords = 4096;
// More than a writer ever keeps waiting: what is longer without a seal was damaged.
constexpr size_t kMostBlockRecords = (size_t{16} << 20) / sizeof(Record);

// Bytes read, fewer only at the end of the file; -1 on an error.
ssize_t ReadFully(int file, void* to, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = read(file, static_cast<char*>(to) + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

// Of the last system call.
Failure Unavailable(const char* what, const std::string& path) {
  return {Failure::Cause::kUnavailable,
          std::string("cannot ") + what + " '" + path + "': " + std::strerror(errno)};
}

template <typename T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// Steps are counted from 0, and before the first there is -1. What no counter reaches would
// overflow where steps, or counts of gaps, are added up.
constexpr int64_t kMostSteps = int64_t{1} << 53;
constexpr double kMostInAGap = 1e12;
bool HasPossibleSteps(const Record& record) {
  const bool is_gap = record.kind == Kind::kGap;
  const bool gap_fits = record.aux >= -1 && record.aux <= static_cast<double>(kMostSteps) &&
                        record.value >= 0 && record.value <= kMostInAGap;
  return record.step >= -1 && record.step <= kMostSteps && (!is_gap || gap_fits);
}

}  // namespace

Expected<RecordReader> RecordReader::Open(const std::string& path) {
  // Without waiting: a pipe of that name may never be written to.
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) {
    return Failure{errno == ENOENT ? Failure::Cause::kNotFound : Failure::Cause::kUnavailable,
                   "cannot open '" + path + "': " + std::strerror(errno)};
  }
  RecordReader reader(path, file);
  struct stat info = {};
  if (fstat(file, &info) != 0) return Unavailable("read", path);
  if (!S_ISREG(info.st_mode)) {
    return Failure{Failure::Cause::kInvalid, "'" + path + "' is not a regular file"};
  }
  const ssize_t got = ReadFully(file, &reader.header_, sizeof(FileHeader));
  if (got < 0) return Unavailable("read", path);
  if (got < static_cast<ssize_t>(sizeof(FileHeader))) {
    return Failure{Failure::Cause::kDamaged, "'" + path + "' ends inside its header"};
  }
  const FileHeader& header = reader.header_;
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) {
    return Failure{Failure::Cause::kInvalid, "'" + path + "' is not a record file of dlcheck"};
  }
  if (header.byte_order != kByteOrder) {
    return Failure{Failure::Cause::kInvalid,
                   "'" + path + "' was written by a machine of another byte order"};
  }
  if (header.major != kFormatMajor) {
    return Failure{Failure::Cause::kNewer,
                   "'" + path + "' was written by " +
                       (header.major > kFormatMajor ? "a newer" : "an older") +
                       " dlcheck (format " + std::to_string(header.major) + ", this one reads " +
                       std::to_string(kFormatMajor) + ")"};
  }
  if (header.record_bytes != sizeof(Record)) {
    return Failure{Failure::Cause::kDamaged, "'" + path + "' has a damaged header"};
  }
  return reader;
}

RecordReader::RecordReader(RecordReader&& other) noexcept : file_(-1) { *this = std::move(other); }

RecordReader& RecordReader::operator=(RecordReader&& other) noexcept {
  path_ = std::move(other.path_);
  std::swap(file_, other.file_);
  header_ = other.header_;
  ahead_ = std::move(other.ahead_);
  next_ahead_ = other.next_ahead_;
  block_ = std::move(other.block_);
  at_ = other.at_;
  sequence_ = other.sequence_;
  extent_ = other.extent_;
  return *this;
}

RecordReader::~RecordReader() {
  if (file_ >= 0) close(file_);
}

Failure RecordReader::Damaged(const std::string& how) const {
  return {Failure::Cause::kDamaged,
          "'" + path_ + "' is damaged behind record " + std::to_string(sequence_) + ": " + how};
}

// The next 64 bytes. Errors: NotFound at the end of the file; Unavailable.
Expected<Record> RecordReader::Slot() {
  if (next_ahead_ == ahead_.size()) {
    ahead_.resize(kReadRecords);
    next_ahead_ = 0;
    const ssize_t got = ReadFully(file_, ahead_.data(), kReadRecords * sizeof(Record));
    ahead_.resize(got < 0 ? 0 : static_cast<size_t>(got) / sizeof(Record));
    if (got < 0) return Unavailable("read", path_);
  }
  if (ahead_.empty()) return Failure{Failure::Cause::kNotFound, ""};
  return ahead_[next_ahead_++];
}

// Space that a writer took ahead and did not give back.
Expected<bool> RecordReader::PassOverZeros() {
  const Record zero{};
  while (true) {
    const Expected<Record> slot = Slot();
    if (!slot.ok() && slot.failure().cause == Failure::Cause::kNotFound) return false;
    if (!slot.ok()) return slot.failure();
    if (std::memcmp(&*slot, &zero, sizeof(zero)) != 0) return Damaged("it has a hole");
  }
}

Expected<bool> RecordReader::Sealed(const Record& last) {
  Seal seal;
  std::memcpy(&seal, &last, sizeof(seal));
  const uint32_t sum = seal.sum;
  seal.sum = 0;
  uint32_t found = extent_.bytes == 0 ? Crc32(BytesOf(header_)) : extent_.sum;
  for (const Record& record : block_) found = Crc32(BytesOf(record), found);
  found = Crc32(BytesOf(seal), found);
  if (found != sum) return Damaged("a block is not as it was written");
  if (seal.sequence != sequence_ + block_.size()) return Damaged("records are missing");
  const uint64_t header = extent_.bytes == 0 ? sizeof(FileHeader) : 0;
  extent_ = {extent_.bytes + header + (block_.size() + 1) * sizeof(Record), sum, seal.names,
             seal.names_sum, seal.kind == Kind::kEnd};
  return true;
}

// True if a block was read whose sum is right. One without a seal was torn by a crash, or is being
// written just now, and is passed over.
Expected<bool> RecordReader::ReadBlock() {
  block_.clear();
  at_ = 0;
  while (block_.size() <= kMostBlockRecords) {
    const Expected<Record> slot = Slot();
    if (!slot.ok()) {
      block_.clear();
      if (slot.failure().cause == Failure::Cause::kNotFound) return false;
      return slot.failure();
    }
    if (slot->kind == Kind::kNone) {
      block_.clear();
      return PassOverZeros();
    }
    if (extent_.ended) return Damaged("something stands behind its end");
    if (slot->kind == Kind::kSeal || slot->kind == Kind::kEnd) return Sealed(*slot);
    block_.push_back(*slot);
  }
  return Damaged("a block has no end");
}

Expected<bool> RecordReader::Next(Record& record) {
  while (at_ == block_.size()) {
    const Expected<bool> more = ReadBlock();
    if (!more.ok() || !*more) {
      block_.clear();
      at_ = 0;
      return more;
    }
  }
  record = block_[at_];
  if (record.kind > Kind::kGap || record.sequence != sequence_) {
    return Damaged("records are out of order");
  }
  if (!HasPossibleSteps(record)) return Damaged("a record has an impossible step");
  ++at_;
  ++sequence_;
  return true;
}

Expected<std::vector<std::string>> RecordFileStems(const std::string& run_folder) {
  static constexpr char kEnding[] = ".records";
  const std::string folder = run_folder + "/records";
  std::vector<std::string> stems;
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr && errno == ENOENT) return stems;
  if (directory == nullptr) return Unavailable("list", folder);
  errno = 0;
  for (const dirent* entry = nullptr; (entry = readdir(directory)) != nullptr; errno = 0) {
    const std::string name = entry->d_name;
    const size_t ending = std::strlen(kEnding);
    if (name.size() > ending && name.compare(name.size() - ending, ending, kEnding) == 0) {
      stems.push_back(folder + "/" + name.substr(0, name.size() - ending));
    }
  }
  const int failed = errno;
  closedir(directory);
  errno = failed;
  if (failed != 0) return Unavailable("list", folder);
  std::sort(stems.begin(), stems.end());
  return stems;
}

}  // namespace dlcheck
