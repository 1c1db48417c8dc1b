#include "diagnostics/cli/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "checks/engine/text.h"
#include "checks/records/line_file.h"

namespace dlcheck::cli {
namespace {

// The process that wrote the mark file; empty if it is not there to read.
std::string OwnerIn(int file) {
  std::array<char, 256> buffer{};
  const ssize_t size = pread(file, buffer.data(), buffer.size(), 0);
  if (size <= 0) return "";
  for (const LineFields& line : ParseLines({buffer.data(), static_cast<size_t>(size)})) {
    if (line.size() == 2 && line[0] == "process") return line[1];
  }
  return "";
}

absl::Status CannotMark(const std::string& path, std::string_view cause) {
  return absl::InvalidArgumentError(StrCat("cannot write '", path, "': ", cause));
}

}  // namespace

FolderLock::FolderLock(int file)
    : file_(new int(file), [](const int* held) {
        close(*held);
        delete held;
      }) {}

absl::StatusOr<FolderLock> FolderLock::Take(const std::string& folder) {
  const std::string path = StrCat(folder, "/", kMarkFile);
  constexpr int kFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const int file = open(path.c_str(), kFlags, 0600);
  if (file < 0) return CannotMark(path, errno == ELOOP ? "it is a link" : strerror(errno));
  FolderLock lock(file);
  struct stat info = {};
  // A second name of the file may be one that somebody else needs.
  if (fstat(file, &info) != 0) return CannotMark(path, strerror(errno));
  if (!S_ISREG(info.st_mode) || info.st_nlink != 1) {
    return CannotMark(path, "it is not a file of its own");
  }
  if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    const std::string owner = OwnerIn(file);
    return absl::ResourceExhaustedError(
        StrCat("process ", owner.empty() ? "?" : owner, " is writing it"));
  }
  const std::string text = StrCat("dlcheck\t1\nprocess\t", getpid(), "\n");
  const bool is_written = ftruncate(file, 0) == 0 && pwrite(file, text.data(), text.size(), 0) ==
                                                         static_cast<ssize_t>(text.size());
  if (!is_written) return CannotMark(path, strerror(errno));
  return lock;
}

}  // namespace dlcheck::cli
