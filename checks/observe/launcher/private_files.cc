#include "checks/observe/launcher/private_files.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "checks/observe/launcher/abandoned_folders.h"
#include "checks/observe/launcher/child_calls.h"
#include "checks/observe/launcher/mounts.h"
#include "checks/observe/launcher/written_files.h"

namespace dlcheck {
namespace {

// The kernel's own, and what programs only read; the last unless the program runs there.
constexpr std::array<std::string_view, 4> kSpecial{"proc", "sys", "dev", "run"};
constexpr std::array<std::string_view, 8> kRead{"boot", "etc",   "bin",   "sbin",
                                                "lib",  "lib32", "lib64", "libx32"};
// File systems that a layer can lie over; others, as of a network, stay the real ones.
constexpr std::array<std::string_view, 4> kPlain{"ext4", "xfs", "btrfs", "tmpfs"};
constexpr size_t kMostLayers = 512;
// Descriptors of the folders in a child: a layer may hide their paths. Above what programs use.
constexpr int kFirstFile = 700;

template <size_t n>
bool Holds(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool IsBelow(const std::string& path, const std::string& folder) {
  return path.starts_with(folder + "/");
}

std::string WorkingFolder() {
  std::array<char, PATH_MAX> buffer{};
  return getcwd(buffer.data(), buffer.size()) == nullptr ? "" : buffer.data();
}

}  // namespace

PrivateFiles PrivateFiles::Plan() {
  PrivateFiles files;
  files.working_folder_ = WorkingFolder();
  files.user_map_ = absl::StrCat(getuid(), " ", getuid(), " 1");
  files.group_map_ = absl::StrCat(getgid(), " ", getgid(), " 1");
  if (files.working_folder_.size() < 2) return files;  // unknown, or "/" itself
  files.ChoosePlaces();
  if (files.folders_[0].empty()) return files;
  const std::string own = TopOf(files.working_folder_);
  for (const std::string& name : FoldersAtTheTop()) {
    if (name != own && (Holds(kSpecial, name) || Holds(kRead, name))) continue;
    files.Add("/" + name, false, !Holds(kSpecial, name));
  }
  files.AddMountsBelow();
  // Of another user, and open to all: in a layer of its own, since a user cannot copy such a folder
  // from the layer below.
  files.Add("/var/tmp", true, true);
  files.is_whole_ = files.is_whole_ && files.HasLayer(files.working_folder_ + "/file");
  return files;
}

void PrivateFiles::Hide(std::vector<std::string> paths) {
  hidden_ = std::move(paths);
  hides_in_layers_ =
      std::ranges::all_of(hidden_, [this](const std::string& path) { return HasLayer(path); });
}

void PrivateFiles::Replace(std::string target, std::string source) {
  replaces_in_layer_ = HasLayer(target);
  replaced_ = std::move(target);
  replacement_ = std::move(source);
}

bool PrivateFiles::HasLayer(const std::string& path) const {
  const Layer* nearest = nullptr;
  for (const Layer& layer : layers_) {
    if (!IsBelow(path, layer.target)) continue;
    if (nearest == nullptr || layer.target.size() >= nearest->target.size()) nearest = &layer;
  }
  return nearest != nullptr && !nearest->options.empty();
}

void PrivateFiles::ChoosePlaces() {
  const std::string own = TopOf(working_folder_);
  std::string taken;  // by the first folder
  for (std::string& folder : folders_) {
    for (const char* place : kPrivatePlaces) {
      if (TopOf(place) == (taken.empty() ? own : taken)) continue;
      std::string name = absl::StrCat(place, "/dlcheck-XXXXXX");
      if (mkdtemp(name.data()) == nullptr) continue;
      folder = name;
      Hold(folder);
      taken = TopOf(place);
      break;
    }
    if (folder.empty()) return;
  }
}

void PrivateFiles::Hold(const std::string& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  held_.push_back({new int(file), [](const int* held) {
                     close(*held);
                     delete held;
                   }});
  (void)flock(file, LOCK_EX | LOCK_NB);
}

void PrivateFiles::Add(const std::string& target, bool is_mounted_below, bool is_layer) {
  const size_t which = TopOf(target) == TopOf(folders_[0]) ? 1 : 0;
  const std::string folder = absl::StrCat(folders_[which], "/", layers_.size());
  const std::string there = absl::StrCat("/proc/self/fd/", kFirstFile + which, "/", layers_.size());
  std::string options;
  if (is_layer && !folders_[which].empty() &&
      target.find_first_of(":,\\") == std::string::npos) {  // which mean something there
    const std::string up = folder + "/up";
    for (const std::string& made : {folder, up, folder + "/work"}) mkdir(made.c_str(), 0755);
    struct stat info = {};
    if (stat(target.c_str(), &info) == 0) chmod(up.c_str(), info.st_mode & 07777);
    options =
        absl::StrCat("lowerdir=", target, ",upperdir=", there, "/up,workdir=", there, "/work");
  }
  is_whole_ = is_whole_ && !(is_layer && options.empty());
  layers_.push_back({target, folder, options, is_mounted_below});
}

// Other file systems below the layers: a layer hides what is mounted below it.
void PrivateFiles::AddMountsBelow() {
  for (const MountPoint& point : MountPoints()) {
    const bool is_hidden = std::ranges::any_of(
        layers_, [&point](const Layer& layer) { return IsBelow(point.path, layer.target); });
    if (!is_hidden) continue;
    const bool is_layer = Holds(kPlain, point.type) && point.is_folder;
    is_whole_ = is_whole_ && (is_layer || point.is_read_only);
    Add(point.path, true, is_layer);
  }
}

bool PrivateFiles::Enter(const char* kept) const {
  if (layers_.empty()) return false;
  const bool is_superuser = unshare(CLONE_NEWNS) == 0;
  if (!is_superuser) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    WriteAll("/proc/self/setgroups", "deny");
    WriteAll("/proc/self/uid_map", user_map_);
    WriteAll("/proc/self/gid_map", group_map_);
  }
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  // Opened only now: what was opened among the mounts of before cannot be mounted among these.
  for (int which = 0; which < 2; ++which) {
    const std::string& folder = folders_[static_cast<size_t>(which)];
    const int file = folder.empty() ? -1 : open(folder.c_str(), O_PATH | O_CLOEXEC);
    if (file >= 0 && file != kFirstFile + which) {
      dup3(file, kFirstFile + which, O_CLOEXEC);
      close(file);
    }
  }
  const int own = open(kept, O_PATH | O_CLOEXEC);
  const bool could_write = access(working_folder_.c_str(), W_OK) == 0;
  std::array<bool, kMostLayers> mounted{};
  if (layers_.size() > mounted.size()) return false;
  const bool are_mounted = MountLayers(is_superuser, mounted.data());
  const bool is_inside = chdir(working_folder_.c_str()) == 0;  // into the layer over it
  if (!is_inside || (could_write && !CanWrite())) {
    // As in a folder of a group that this user's own file systems do not know: better no layer. Who
    // is not inside would write relative paths to the real folder, and be told that all is private.
    for (size_t i = layers_.size(); i-- > 0;) {
      if (mounted[i]) umount2(layers_[i].target.c_str(), MNT_DETACH);
    }
    (void)!chdir(working_folder_.c_str());
    return false;
  }
  return Bind(own, kept) && are_mounted && is_whole_ && ChangeFiles();
}

// What is to be hidden and replaced, now that it is done in layers.
bool PrivateFiles::ChangeFiles() const {
  if (!hides_in_layers_ || !replaces_in_layer_) return false;
  for (const std::string& path : hidden_) {
    if (remove(path.c_str()) != 0 && errno != ENOENT && errno != ENOTEMPTY) return false;
  }
  return replaced_.empty() || CopyFile(replacement_.c_str(), replaced_.c_str());
}

// In the working folder, as it is now.
bool PrivateFiles::CanWrite() const {
  constexpr char kTry[] = ".dlcheck-can-write";
  const int file = open(kTry, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return false;
  close(file);
  return unlink(kTry) == 0;
}

// True if every layer is there; says which are.
bool PrivateFiles::MountLayers(bool is_superuser, bool* mounted) const {
  std::array<int, kMostLayers> below{};
  for (size_t i = 0; i < layers_.size(); ++i) {
    const char* target = layers_[i].target.c_str();
    below[i] = layers_[i].is_mounted_below ? open(target, O_PATH | O_CLOEXEC) : -1;
  }
  bool are_all_there = true;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const std::string& target = layer.target;
    if (layer.is_mounted_below && !Bind(below[i], target.c_str())) {
      are_all_there = false;
      continue;
    }
    if (layer.options.empty()) continue;
    mounted[i] = MountLayer(target, layer.options, is_superuser);
    if (!mounted[i]) {
      // A user cannot cover what other file systems are mounted below, as often on /mnt: these have
      // layers of their own, and the folder itself is not the user's to write.
      const bool is_working_folder = IsBelow(working_folder_, target);
      are_all_there &= !is_superuser && !is_working_folder && access(target.c_str(), W_OK) != 0;
    }
  }
  return are_all_there;
}

std::vector<std::string> PrivateFiles::Written() const {
  std::vector<std::string> paths;
  for (const Layer& layer : layers_) {
    if (!layer.options.empty()) AddFilesBelow(layer.folder + "/up", layer.target, paths);
  }
  return paths;
}

bool PrivateFiles::AreUntouched() const { return Written().empty(); }

std::vector<std::string> PrivateFiles::Clear(size_t most) const {
  std::vector<std::string> paths = Written();
  for (const std::string& folder : folders_) {
    if (!folder.empty()) RemoveTree(folder);
  }
  std::ranges::sort(paths);
  paths.resize(std::min(paths.size(), most));
  return paths;
}

}  // namespace dlcheck
