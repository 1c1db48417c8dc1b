#include "reference/checkpoint/durable_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

[[noreturn]] void Fail(const char* what, const std::string& path) {
  throw SavingFailed("cannot " + std::string(what) + " '" + path + "': " + std::strerror(errno));
}

// Closes on every way out; the orderly way closes by Close(), which looks at the result.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags)
      : path_(path), number_(open(path.c_str(), flags, 0666)) {
    if (number_ < 0) Fail("open", path_);
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = write(number_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) Fail("write", path_);
      bytes.remove_prefix(static_cast<size_t>(written));
    }
  }
  void Sync() {
    if (fsync(number_) != 0) Fail("sync", path_);
  }
  void Close() {
    const int number = number_;
    number_ = -1;
    if (close(number) != 0) Fail("close", path_);
  }

 private:
  std::string path_;
  int number_;
};

}  // namespace

void WriteDurably(const std::string& path, std::string_view bytes) {
  Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
  file.Write(bytes);
  file.Sync();
  file.Close();
}

void SyncFolder(const std::string& path) {
  Descriptor folder(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  folder.Sync();
  folder.Close();
}

void MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) Fail("make the folder", path);
}

void MakeFolders(const std::string& path) {
  for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    MakeFolder(path.substr(0, end));
  }
  MakeFolder(path);
}

void Rename(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) Fail("rename to", to);
}

void Exchange(const std::string& one, const std::string& other) {
  if (renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) != 0) {
    Fail("exchange names with", other);
  }
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::vector<std::string> NamesIn(const std::string& path) {
  std::vector<std::string> names;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr && errno == ENOENT) return names;
  if (folder == nullptr) throw InputRejected(path, std::strerror(errno));
  errno = 0;
  for (const dirent* entry = nullptr; (entry = readdir(folder)) != nullptr; errno = 0) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  const int failed = errno;  // names that are missing would make an older checkpoint the newest
  closedir(folder);
  if (failed != 0) throw InputRejected(path, std::strerror(failed));
  return names;
}

// Opened without following links, so that the files of another folder are never reached.
void RemoveFolder(const std::string& path) {
  const int number = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR* folder = number < 0 ? nullptr : fdopendir(number);
  if (folder == nullptr) {
    unlink(path.c_str());  // a link, or a file in the way; a folder stays
    return;
  }
  while (const dirent* entry = readdir(folder)) unlinkat(number, entry->d_name, 0);
  closedir(folder);
  rmdir(path.c_str());
}

FolderLock::FolderLock(const std::string& path)
    : number_(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (number_ < 0) Fail("open", path);
  if (flock(number_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(number_);
    throw SavingFailed("'" + path + "' is in use by another run");
  }
}

FolderLock::~FolderLock() { close(number_); }

std::string ReadWhole(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw InputRejected(path, std::strerror(errno));
  std::string bytes;
  std::array<char, 1 << 16> part;
  ssize_t got = 0;
  while ((got = read(file, part.data(), part.size())) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    bytes.append(part.data(), static_cast<size_t>(got));
  }
  const int failed = got < 0 ? errno : 0;
  close(file);
  if (failed != 0) throw InputRejected(path, std::strerror(failed));
  return bytes;
}

}  // namespace dlcheck::reference
