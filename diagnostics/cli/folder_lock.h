// The file that says that an output folder is ours, and that a run locks for as long as it lasts.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace dlcheck::cli {

inline constexpr char kMarkFile[] = ".dlcheck";

class FolderLock {
 public:
  // Locks `folder`, which exists, and writes this process's id into its mark file. The lock ends
  // with this process. A file system that knows no locks gives none, and no error. Errors:
  // ResourceExhausted if another run holds it, with its process id; InvalidArgument if the mark
  // file is a link or cannot be written.
  static absl::StatusOr<FolderLock> Take(const std::string& folder);

 private:
  explicit FolderLock(int file);
  std::shared_ptr<const int> file_;
};

}  // namespace dlcheck::cli
