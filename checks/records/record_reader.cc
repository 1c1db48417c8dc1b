#include "checks/records/record_reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace dlcheck {
namespace {

constexpr size_t kBlockRecords = 4096;

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

}  // namespace

Expected<RecordReader> RecordReader::Open(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return Failure{errno == ENOENT ? Failure::Cause::kNotFound : Failure::Cause::kUnavailable,
                   "cannot open '" + path + "': " + std::strerror(errno)};
  }
  RecordReader reader(path, file);
  const ssize_t got = ReadFully(file, &reader.header_, sizeof(FileHeader));
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
  if (header.major > kFormatMajor) {
    return Failure{Failure::Cause::kNewer,
                   "'" + path + "' was written by a newer dlcheck (format " +
                       std::to_string(header.major) + ", this one reads up to " +
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
  block_ = std::move(other.block_);
  at_ = other.at_;
  sequence_ = other.sequence_;
  return *this;
}

RecordReader::~RecordReader() {
  if (file_ >= 0) close(file_);
}

Expected<bool> RecordReader::Next(Record& record) {
  if (at_ == block_.size()) {
    block_.resize(kBlockRecords);
    const ssize_t got = ReadFully(file_, block_.data(), kBlockRecords * sizeof(Record));
    // A record that is only half there was torn by a crash and is passed over.
    block_.resize(got < 0 ? 0 : static_cast<size_t>(got) / sizeof(Record));
    at_ = 0;
    if (block_.empty()) return false;
  }
  record = block_[at_];
  if (record.kind == Kind::kNone) return false;
  if (record.kind > Kind::kGap || record.sequence != sequence_) {
    return Failure{Failure::Cause::kDamaged,
                   "'" + path_ + "' is damaged at record " + std::to_string(sequence_)};
  }
  ++at_;
  ++sequence_;
  return true;
}

std::vector<std::string> RecordFileStems(const std::string& run_folder) {
  static constexpr char kEnding[] = ".records";
  const std::string folder = run_folder + "/records";
  std::vector<std::string> stems;
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) return stems;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    const size_t ending = std::strlen(kEnding);
    if (name.size() > ending && name.compare(name.size() - ending, ending, kEnding) == 0) {
      stems.push_back(folder + "/" + name.substr(0, name.size() - ending));
    }
  }
  closedir(directory);
  std::sort(stems.begin(), stems.end());
  return stems;
}

}  // namespace dlcheck
