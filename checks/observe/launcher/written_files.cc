#include "checks/observe/launcher/written_files.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

namespace dlcheck {
namespace {

namespace fs = std::filesystem;

constexpr int kMostWalks = 1000;
constexpr int kMostRounds = 3;
constexpr size_t kMostEntries = 100'000;

// What cannot be removed keeps nothing else from it.
int RemoveOne(const char* path, const struct stat*, int, FTW*) {
  (void)remove(path);
  return 0;
}

// A folder without rights can neither be looked into nor emptied; 1 if this one could not be.
int OpenOne(const char* path, const struct stat* info, int kind, FTW*) {
  if (S_ISDIR(info->st_mode)) chmod(path, S_IRWXU);
  return kind == FTW_DNR ? 1 : 0;
}

void OpenAll(const std::string& folder) {
  // Each walk opens one folder more that it could not look into.
  for (int walk = 0; walk < kMostWalks; ++walk) {
    if (nftw(folder.c_str(), OpenOne, 16, FTW_PHYS | FTW_MOUNT) == 0) return;
  }
}

absl::Time TimeOf(const struct statx_timestamp& time) {
  return absl::FromUnixSeconds(time.tv_sec) + absl::Nanoseconds(time.tv_nsec);
}

enum class Fate : uint8_t { kUntouched, kMade, kChanged };

// A log that our own output goes to, which is the program's too.
bool IsOutput(const struct statx& info) {
  for (const int output : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat of_output = {};
    if (fstat(output, &of_output) == 0 && of_output.st_ino == info.stx_ino &&
        of_output.st_dev == makedev(info.stx_dev_major, info.stx_dev_minor)) {
      return true;
    }
  }
  return false;
}

Fate FateOf(const fs::path& path, absl::Time since) {
  struct statx info = {};
  const unsigned wanted = STATX_BTIME | STATX_MTIME | STATX_TYPE | STATX_INO;
  if (statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, wanted, &info) != 0) {
    return Fate::kUntouched;
  }
  if ((info.stx_mask & STATX_BTIME) == 0) return Fate::kUntouched;
  if (TimeOf(info.stx_btime) >= since) return Fate::kMade;
  const bool is_changed = S_ISREG(info.stx_mode) && TimeOf(info.stx_mtime) >= since;
  return is_changed && !IsOutput(info) ? Fate::kChanged : Fate::kUntouched;
}

std::set<std::string> WithFate(Fate fate, const std::vector<std::string>& folders, absl::Time since,
                               const std::string& except) {
  std::set<std::string> found;
  for (const std::string& folder : folders) {
    std::error_code error;
    size_t entries = 0;
    for (fs::recursive_directory_iterator
             entry(folder, fs::directory_options::skip_permission_denied, error),
         end;
         entry != end && entries < kMostEntries; entry.increment(error), ++entries) {
      if (entry->path() == except) {
        entry.disable_recursion_pending();
      } else if (FateOf(entry->path(), since) == fate) {
        found.insert(entry->path().string());
      }
    }
  }
  return found;
}

}  // namespace

void AddFilesBelow(const std::string& folder, const std::string& target,
                   std::vector<std::string>& paths) {
  OpenAll(folder);
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; entry != end;
       entry.increment(error)) {
    const std::string rest = entry->path().string().substr(folder.size());
    const bool is_cache = rest.find("/__pycache__/") != std::string::npos;
    if (!is_cache && entry->symlink_status(error).type() == fs::file_type::regular) {
      paths.push_back(target + rest);
    }
  }
}

void RemoveTree(const std::string& folder) {
  std::error_code error;
  // A failure may pass, as of a descriptor that was not free.
  for (int round = 0; round < kMostRounds && fs::exists(fs::symlink_status(folder, error));
       ++round) {
    OpenAll(folder);
    nftw(folder.c_str(), RemoveOne, 16, FTW_PHYS | FTW_MOUNT | FTW_DEPTH);
  }
}

std::vector<std::string> MadeSince(const std::vector<std::string>& folders, absl::Time since,
                                   const std::string& except) {
  const std::set<std::string> found = WithFate(Fate::kMade, folders, since, except);
  return {found.rbegin(), found.rend()};  // "folder/file" sorts after "folder"
}

std::vector<std::string> ChangedSince(const std::vector<std::string>& folders, absl::Time since,
                                      const std::string& except) {
  const std::set<std::string> found = WithFate(Fate::kChanged, folders, since, except);
  return {found.begin(), found.end()};
}

}  // namespace dlcheck
