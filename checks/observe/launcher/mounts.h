// What is mounted in this process's file system, and what stands at its top.
#pragma once

#include <string>
#include <vector>

namespace dlcheck {

struct MountPoint {
  std::string path;
  std::string type;  // as "ext4"
  bool is_read_only;
  bool is_folder;
};

// Every mount point, outer ones before those below them; the last of several at one place.
std::vector<MountPoint> MountPoints();

// Names of the folders in "/", without links.
std::vector<std::string> FoldersAtTheTop();

// "home" of "/home/someone".
std::string TopOf(const std::string& path);

}  // namespace dlcheck
