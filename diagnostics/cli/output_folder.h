// The folder that a run writes: records below `runs`, and result.json. A folder of ours is
// replaced; anything else is left alone. One run at a time writes it; links in it are not followed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "diagnostics/cli/folder_lock.h"

namespace dlcheck::cli {

class OutputFolder {
 public:
  // Makes `path`, or empties it if an earlier run of ours made it, and locks it. While another run
  // writes it and nobody named it (`is_default`), takes the first free one of `path`.2 to .99 and
  // says so on standard error. Errors: InvalidArgument if it holds something that is not ours,
  // cannot be written, has a colon in its path, or is in use.
  static absl::StatusOr<OutputFolder> Prepare(const std::string& path, bool is_default);
  // A folder as it is. Errors: InvalidArgument if it is not one of ours.
  static absl::StatusOr<OutputFolder> Open(const std::string& path);

  const std::string& path() const { return path_; }    // absolute
  const std::string& shown() const { return shown_; }  // as the user gave it
  std::string ResultPath() const { return path_ + "/result.json"; }

  // Makes the folder of one run. Errors: Unavailable.
  absl::StatusOr<std::string> AddRun(const std::string& name) const;
  // The folder of a suggested change, and in it the folder of a run with that change, which is no
  // run of this folder. Both are made where they are missing. Errors: Unavailable.
  absl::StatusOr<std::string> AddSuggestion() const;
  absl::StatusOr<std::string> AddSuggested(int64_t steps) const;
  // Folders of all runs, in the order in which they were made. Errors: Unavailable.
  absl::StatusOr<std::vector<std::string>> Runs() const;

  // Writes a page or a file of numbers beside result.json.
  absl::Status WriteBeside(const char* name, const std::string& text) const;
  // Writes result.json. Space for it was set aside when the folder was made, so that a disk that
  // fills up while recording does not cost the verdict.
  absl::Status WriteResult(const std::string& json) const;

 private:
  OutputFolder(std::string path, std::string shown)
      : path_(std::move(path)), shown_(std::move(shown)) {}
  static absl::StatusOr<OutputFolder> PrepareOne(const std::string& path);

  std::string path_, shown_;
  std::optional<FolderLock> lock_;  // while a run writes it
};

}  // namespace dlcheck::cli
