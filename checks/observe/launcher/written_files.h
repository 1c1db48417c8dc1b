// Files that a program wrote, found again: in the layer that took them, or by when they were made.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace dlcheck {

// Adds the regular files below `folder`, named as if they were below `target`. Caches of compiled
// Python are left out. Folders without rights are given them.
void AddFilesBelow(const std::string& folder, const std::string& target,
                   std::vector<std::string>& paths);

// Removes a folder and all below it, whatever its rights, but nothing of other file systems.
void RemoveTree(const std::string& folder);

// What was made below the folders at `since` or later, a folder after what it holds; `except` and
// what is below it is left out. Empty where the file system does not know when a file was made, and
// of a folder with very many entries only a part.
std::vector<std::string> MadeSince(const std::vector<std::string>& folders, absl::Time since,
                                   const std::string& except);

// Regular files below the folders that were made before `since` and written to later. Empty where
// the file system does not know when a file was made.
std::vector<std::string> ChangedSince(const std::vector<std::string>& folders, absl::Time since,
                                      const std::string& except);

}  // namespace dlcheck
