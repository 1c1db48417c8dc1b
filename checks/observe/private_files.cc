#include "checks/observe/private_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace dlcheck {
namespace {

// The kernel's own, and what programs only read; the last unless the program runs there.
constexpr std::array<std::string_view, 4> kSpecial{"proc", "sys", "dev", "run"};
constexpr std::array<std::string_view, 9> kRead{"boot", "usr",   "etc",   "bin",   "sbin",
                                                "lib",  "lib32", "lib64", "libx32"};
// File systems that a layer can lie over; others, as of a network, stay the real ones.
constexpr std::array<std::string_view, 4> kPlain{"ext4", "xfs", "btrfs", "tmpfs"};
constexpr size_t kMostLayers = 512;
constexpr int kMostWalks = 1000;
// Where the folder may be, which must not lie below one of the layers.
constexpr std::array<const char*, 3> kPlaces{"/tmp", "/var/tmp", "/dev/shm"};

template <size_t n>
bool Holds(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// "home" of "/home/someone".
std::string TopOf(const std::string& path) {
  return path.substr(1, path.find('/', 1) - 1);  // npos - 1 is as good as npos
}

bool IsBelow(const std::string& path, const std::string& folder) {
  return path.starts_with(folder + "/");
}

std::string WorkingFolder() {
  std::array<char, PATH_MAX> buffer{};
  return getcwd(buffer.data(), buffer.size()) == nullptr ? "" : buffer.data();
}

// "/a b" of "/a\\040b", as the kernel writes it.
std::string Unescaped(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// Names of the folders in "/", without links.
std::vector<std::string> FoldersAtTheTop() {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> root(opendir("/"), closedir);
  while (const dirent* entry = root ? readdir(root.get()) : nullptr) {
    const std::string name = entry->d_name;
    struct stat info = {};
    if (name == "." || name == "..") continue;
    if (lstat(("/" + name).c_str(), &info) == 0 && S_ISDIR(info.st_mode)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

void WriteAll(const char* path, std::string_view text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  (void)!write(file, text.data(), text.size());
  close(file);
}

// "/proc/self/fd/7", without memory from the heap.
const char* LinkOf(int file, std::array<char, 32>& buffer) {
  constexpr std::string_view kFolder = "/proc/self/fd/";
  char* end = std::ranges::copy(kFolder, buffer.data()).out;
  std::array<char, 12> digits{};
  size_t count = 0;
  for (int rest = file; rest > 0 || count == 0; rest /= 10) {
    digits[count++] = static_cast<char>('0' + rest % 10);
  }
  while (count > 0) *end++ = digits[--count];
  *end = '\0';
  return buffer.data();
}

bool Bind(int file, const char* target) {
  std::array<char, 32> link{};
  return file >= 0 && mount(LinkOf(file, link), target, nullptr, MS_BIND | MS_REC, nullptr) == 0;
}

int RemoveOne(const char* path, const struct stat*, int, FTW*) { return remove(path); }

// A folder without rights can neither be looked into nor emptied; 1 if this one could not be.
int OpenOne(const char* path, const struct stat* info, int kind, FTW*) {
  if (S_ISDIR(info->st_mode)) chmod(path, S_IRWXU);
  return kind == FTW_DNR ? 1 : 0;
}

// What nftw, which takes no argument of the caller's, adds to.
struct Found {
  std::set<std::string> paths;
  size_t skipped = 0;  // characters of the folder that is walked
  std::string target;
};
Found* found = nullptr;

int NoteOne(const char* path, const struct stat* info, int, FTW*) {
  const std::string_view rest = std::string_view(path).substr(found->skipped);
  if (S_ISREG(info->st_mode) && rest.find("/__pycache__/") == std::string_view::npos) {
    found->paths.insert(found->target + std::string(rest));
  }
  return 0;
}

}  // namespace

PrivateFiles PrivateFiles::Plan(const std::string& kept) {
  PrivateFiles files;
  files.kept_ = kept;
  files.working_folder_ = WorkingFolder();
  files.user_map_ = absl::StrCat(getuid(), " ", getuid(), " 1");
  files.group_map_ = absl::StrCat(getgid(), " ", getgid(), " 1");
  if (files.working_folder_.size() < 2) return files;  // unknown, or "/" itself
  const std::string own = TopOf(files.working_folder_);
  for (const char* place : kPlaces) {
    if (TopOf(place) == own || TopOf(kept) == TopOf(place)) continue;
    std::string name = absl::StrCat(place, "/dlcheck-XXXXXX");
    if (mkdtemp(name.data()) == nullptr) continue;
    files.folder_ = name;
    break;
  }
  if (files.folder_.empty()) return files;
  for (const std::string& name : FoldersAtTheTop()) {
    if (Holds(kSpecial, name) || name == TopOf(files.folder_)) continue;
    if (!Holds(kRead, name) || name == own) files.Add("/" + name, false, true);
  }
  files.AddMountsBelow();
  return files;
}

void PrivateFiles::Add(const std::string& target, bool is_mounted_below, bool is_layer) {
  const std::string folder = absl::StrCat(folder_, "/", layers_.size());
  const std::string up = folder + "/up", work = folder + "/work";
  std::string options;
  if (is_layer &&
      target.find_first_of(":,\\") == std::string::npos) {  // which mean something there
    for (const std::string& made : {folder, up, work}) mkdir(made.c_str(), 0755);
    struct stat info = {};
    if (stat(target.c_str(), &info) == 0) chmod(up.c_str(), info.st_mode & 07777);
    options = absl::StrCat("lowerdir=", target, ",upperdir=", up, ",workdir=", work);
  }
  layers_.push_back({target, folder, options, is_mounted_below});
}

// Other file systems below the layers, outer ones first: a layer hides what is mounted below it.
void PrivateFiles::AddMountsBelow() {
  std::ifstream mounts("/proc/self/mountinfo");
  std::map<std::string, bool> points;  // and whether a layer may lie there
  for (std::string line; std::getline(mounts, line);) {
    const std::vector<std::string> fields = absl::StrSplit(line, ' ');
    const auto dash = std::ranges::find(fields, "-");
    if (fields.size() < 6 || fields.end() - dash < 2) continue;
    const std::string point = Unescaped(fields[4]);
    const bool is_hidden = std::ranges::any_of(
        layers_, [&point](const Layer& layer) { return IsBelow(point, layer.target); });
    if (is_hidden) points[point] = Holds(kPlain, dash[1]);
  }
  for (const auto& [point, is_layer] : points) Add(point, true, is_layer);
}

void PrivateFiles::Enter() const {
  if (layers_.empty()) return;
  std::array<int, kMostLayers> below{};
  if (layers_.size() > below.size()) return;
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return;
    WriteAll("/proc/self/setgroups", "deny");
    WriteAll("/proc/self/uid_map", user_map_);
    WriteAll("/proc/self/gid_map", group_map_);
  }
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
  // Opened only now: what was opened among the mounts of before cannot be mounted among these.
  for (size_t i = 0; i < layers_.size(); ++i) {
    below[i] =
        layers_[i].is_mounted_below ? open(layers_[i].target.c_str(), O_PATH | O_CLOEXEC) : -1;
  }
  const int kept = open(kept_.c_str(), O_PATH | O_CLOEXEC);
  for (size_t i = 0; i < layers_.size(); ++i) {
    const char* target = layers_[i].target.c_str();
    if (layers_[i].is_mounted_below && !Bind(below[i], target)) continue;
    if (layers_[i].options.empty()) continue;
    (void)!mount("dlcheck", target, "overlay", 0, layers_[i].options.c_str());
  }
  Bind(kept, kept_.c_str());
  (void)!chdir(working_folder_.c_str());  // into the layer over it
}

std::vector<std::string> PrivateFiles::Clear(size_t most) const {
  if (folder_.empty()) return {};
  // Each walk opens one folder more that it could not look into.
  for (int walk = 0; walk < kMostWalks; ++walk) {
    if (nftw(folder_.c_str(), OpenOne, 16, FTW_PHYS | FTW_MOUNT) == 0) break;
  }
  Found written;
  found = &written;
  for (const Layer& layer : layers_) {
    const std::string up = layer.folder + "/up";
    written.skipped = up.size();
    written.target = layer.target;
    nftw(up.c_str(), NoteOne, 16, FTW_PHYS | FTW_MOUNT);
  }
  found = nullptr;
  nftw(folder_.c_str(), RemoveOne, 16, FTW_PHYS | FTW_MOUNT | FTW_DEPTH);
  std::vector<std::string> paths(written.paths.begin(), written.paths.end());
  paths.resize(std::min(paths.size(), most));
  return paths;
}

}  // namespace dlcheck
