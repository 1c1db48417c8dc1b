#include "checks/observe/launcher/mounts.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>

#include "absl/strings/str_split.h"

namespace dlcheck {
namespace {

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

bool IsFolder(const std::string& path) {
  struct stat info = {};
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

std::vector<MountPoint> MountPoints() {
  std::ifstream mounts("/proc/self/mountinfo");
  std::map<std::string, MountPoint> points;
  for (std::string line; std::getline(mounts, line);) {
    const std::vector<std::string> fields = absl::StrSplit(line, ' ');
    const auto dash = std::ranges::find(fields, "-");
    if (fields.size() < 6 || fields.end() - dash < 2) continue;
    const std::string path = Unescaped(fields[4]);
    const bool is_read_only = fields[5] == "ro" || fields[5].starts_with("ro,");
    points[path] = {path, dash[1], is_read_only, IsFolder(path)};
  }
  std::vector<MountPoint> found;
  for (const auto& [path, point] : points) found.push_back(point);
  return found;
}

std::vector<std::string> FoldersAtTheTop() {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> root(opendir("/"), closedir);
  while (const dirent* entry = root ? readdir(root.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && IsFolder("/" + name)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::string TopOf(const std::string& path) {
  return path.substr(1, path.find('/', 1) - 1);  // npos - 1 is as good as npos
}

}  // namespace dlcheck
