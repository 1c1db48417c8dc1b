// The folder that a run writes: records below `runs`, and result.json. A folder of ours is
// replaced; anything else is left alone.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace dlcheck::cli {

class OutputFolder {
 public:
  // Makes `path`, or empties it if an earlier run of ours made it.
  // Errors: InvalidArgument if it holds something that is not ours or cannot be written.
  static absl::StatusOr<OutputFolder> Prepare(const std::string& path);
  // A folder as it is. Errors: InvalidArgument if it is not one of ours.
  static absl::StatusOr<OutputFolder> Open(const std::string& path);

  const std::string& path() const { return path_; }  // absolute
  std::string ResultPath() const { return path_ + "/result.json"; }

  // Makes the folder of one run. Errors: Unavailable.
  absl::StatusOr<std::string> AddRun(const std::string& name) const;
  // Folders of all runs, in the order in which they were made.
  std::vector<std::string> Runs() const;

  // Writes result.json. Space for it was set aside when the folder was made, so that a disk that
  // fills up while recording does not cost the verdict.
  absl::Status WriteResult(const std::string& json) const;

 private:
  explicit OutputFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace dlcheck::cli
