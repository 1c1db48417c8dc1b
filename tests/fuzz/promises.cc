#include "tests/fuzz/promises.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "checks/records/visible.h"

namespace dlcheck::fuzz {
namespace {

int RemoveOne(const char* path, const struct stat*, int, FTW*) { return remove(path); }

// One for each process; gone when it ends well. POSIX, because LibTorch brings parts of
// std::filesystem of its own that crash in ours.
class MemoryFolder {
 public:
  MemoryFolder() {
    std::string pattern = "/dev/shm/dlcheck-fuzz-XXXXXX";
    const char* const made = mkdtemp(pattern.data());
    Require(made != nullptr, "a folder in memory can be made");
    path_ = pattern;
  }
  ~MemoryFolder() {
    constexpr int kMostOpen = 8;
    (void)nftw(path_.c_str(), RemoveOne, kMostOpen, FTW_DEPTH | FTW_PHYS);
  }
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

void Require(bool holds, std::string_view promise) {
  if (holds) return;
  std::fprintf(stderr, "broken: %.*s\n", static_cast<int>(promise.size()), promise.data());
  std::abort();
}

void RequireVisible(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const bool is_command = line.starts_with("::");  // of a workflow, which we do not write here
    Require(is_command || Visible(line) == line, "what is shown has no control characters");
    Require(!is_command, "what is shown is no workflow command");
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
}

std::string FileWith(std::string_view bytes, const std::string& name) {
  static const MemoryFolder folder;
  const std::string path = folder.path() + "/" + name;
  for (size_t slash = folder.path().size() + 1;
       (slash = path.find('/', slash)) != std::string::npos; ++slash) {
    mkdir(path.substr(0, slash).c_str(), 0700);
  }
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

}  // namespace dlcheck::fuzz
