#include "checks/records/owned_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace dlcheck {
namespace {

// Of the space taken ahead, so much is left when more is asked for: a writer that gets no more can
// still say so.
constexpr int64_t kSpareBytes = 4096;

constexpr size_t kHeadBytes = 64;

// Closes a descriptor that was opened in the same call.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

 private:
  int number_;
};

Failure Refused(const std::string& what, const std::string& path, int error) {
  const bool is_gone = error == ENOENT || error == ELOOP || error == ENOTDIR;
  return {is_gone ? Failure::Cause::kDamaged : Failure::Cause::kUnavailable,
          "cannot " + what + " '" + path + "': " + std::strerror(error)};
}

// The largest size that this process may give a file; going beyond it is a signal.
int64_t SizeLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INT64_MAX;
  return static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, INT64_MAX));
}

}  // namespace

Expected<OwnedFile> OwnedFile::Create(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0 && errno == EEXIST) {
    return Failure{Failure::Cause::kInvalid, "'" + path + "' is there already"};
  }
  if (file < 0) return Refused("create", path, errno);
  const Descriptor closing(file);
  struct stat info {};
  if (fstat(file, &info) != 0) return Refused("create", path, errno);
  return OwnedFile(path, info.st_dev, info.st_ino);
}

// A file that was cut is ours all the same.
Expected<bool> OwnedFile::IsOurs(int file, const struct stat& info) const {
  if (info.st_dev != device_ || info.st_ino != inode_) return false;
  char found[kHeadBytes];
  const ssize_t got = pread(file, found, head_.size(), 0);
  if (got < 0) return Refused("read", path_, errno);
  const auto size = static_cast<size_t>(got);
  return head_.compare(0, size, found, size) == 0;
}

Expected<int> OwnedFile::Open() const {
  const int file = open(path_.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return Refused("write", path_, errno);
  struct stat info {};
  const Expected<bool> is_ours =
      fstat(file, &info) == 0 ? IsOurs(file, info) : Refused("read", path_, errno);
  if (is_ours.ok() && *is_ours && info.st_size >= size_) return file;
  close(file);
  if (!is_ours.ok()) return is_ours.failure();
  return Failure{Failure::Cause::kDamaged,
                 "'" + path_ + "' was " + (*is_ours ? "cut" : "replaced") + " by another program"};
}

Expected<Done> OwnedFile::Reserve(int file, int64_t end, int64_t ahead) {
  const int64_t limit = SizeLimit();
  if (end > limit) {
    return Failure{Failure::Cause::kUnavailable,
                   "'" + path_ + "' has reached the limit of " + std::to_string(limit) +
                       " bytes that this process may write (ulimit -f)"};
  }
  if (ahead == 0 || end + kSpareBytes <= reserved_) return Done{};
  const int64_t wanted = std::min(limit, end + std::max(ahead, kSpareBytes));
  if (wanted <= reserved_) return Done{};
  const int error = posix_fallocate(file, reserved_, wanted - reserved_);
  if (error != 0) return Refused("extend", path_, error);
  reserved_ = wanted;
  return Done{};
}

Expected<Done> OwnedFile::Append(std::string_view bytes, int64_t ahead) {
  const Expected<int> file = Open();
  if (!file.ok()) return file.failure();
  const Descriptor closing(*file);
  const std::string head(bytes.substr(0, kHeadBytes - head_.size()));
  const auto added = static_cast<int64_t>(bytes.size());
  const Expected<Done> reserved = Reserve(*file, size_ + added, ahead);
  if (!reserved.ok()) return reserved.failure();
  int64_t at = size_;
  while (!bytes.empty()) {
    const ssize_t put = pwrite(*file, bytes.data(), bytes.size(), at);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return Refused("write", path_, errno);
    bytes.remove_prefix(static_cast<size_t>(put));
    at += put;
  }
  size_ += added;
  head_ += head;
  return Done{};
}

Expected<Done> OwnedFile::Close() {
  if (reserved_ <= size_) return Done{};
  const Expected<int> file = Open();
  if (!file.ok()) return file.failure();
  const Descriptor closing(*file);
  if (ftruncate(*file, size_) != 0) return Refused("write", path_, errno);
  reserved_ = size_;
  return Done{};
}

}  // namespace dlcheck
