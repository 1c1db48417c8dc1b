#include "checks/observe/written_files.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

namespace dlcheck {
namespace {

namespace fs = std::filesystem;

constexpr int kMostWalks = 1000;
constexpr size_t kMostEntries = 100'000;

int RemoveOne(const char* path, const struct stat*, int, FTW*) { return remove(path); }

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

bool WasMadeSince(const fs::path& path, absl::Time since) {
  struct statx info = {};
  if (statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME, &info) != 0) return false;
  if ((info.stx_mask & STATX_BTIME) == 0) return false;
  return absl::FromUnixSeconds(info.stx_btime.tv_sec) + absl::Nanoseconds(info.stx_btime.tv_nsec) >=
         since;
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
  OpenAll(folder);
  nftw(folder.c_str(), RemoveOne, 16, FTW_PHYS | FTW_MOUNT | FTW_DEPTH);
}

std::vector<std::string> MadeSince(const std::vector<std::string>& folders, absl::Time since,
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
      } else if (WasMadeSince(entry->path(), since)) {
        found.insert(entry->path().string());
      }
    }
  }
  return {found.rbegin(), found.rend()};  // "folder/file" sorts after "folder"
}

}  // namespace dlcheck
