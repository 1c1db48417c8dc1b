#include "checks/observe/launcher/abandoned_folders.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "checks/observe/launcher/written_files.h"

namespace dlcheck {
namespace {

constexpr time_t kYouth = 10;  // seconds in which a folder may not be locked yet
constexpr std::string_view kPrefix = "dlcheck-";

// True for a folder of ours, of this user, that no process holds, and that is not just being made.
bool IsAbandoned(const std::string& folder, time_t youth) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return false;
  struct stat info = {};
  const bool is_old = fstat(file, &info) == 0 && info.st_uid == geteuid() &&
                      info.st_ctim.tv_sec + youth < time(nullptr);
  const bool is_free = is_old && flock(file, LOCK_EX | LOCK_NB) == 0;
  close(file);
  return is_free;
}

}  // namespace

void RemoveAbandonedFoldersIn(const std::string& place, time_t youth) {
  const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir(place.c_str()), closedir);
  while (const dirent* entry = all ? readdir(all.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    const std::string folder = absl::StrCat(place, "/", std::string(name));
    // As mkdtemp names them.
    const bool is_named = name.starts_with(kPrefix) && name.size() == kPrefix.size() + 6;
    if (is_named && IsAbandoned(folder, youth)) RemoveTree(folder);
  }
}

void RemoveAbandonedFolders() {
  for (const char* place : kPrivatePlaces) RemoveAbandonedFoldersIn(place, kYouth);
}

}  // namespace dlcheck
