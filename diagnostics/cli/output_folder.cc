#include "diagnostics/cli/output_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/records/line_file.h"

namespace dlcheck::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMark = ".dlcheck";     // says that a folder is ours
constexpr const char* kReserve = ".reserve";  // space for the result
constexpr off_t kReserveBytes = 256 << 10;

absl::Status CannotWrite(const std::string& path, const std::string& cause) {
  return absl::InvalidArgumentError(StrCat("cannot write output folder '", path, "': ", cause));
}

absl::Status Reserve(const std::string& file) {
  const int reserve = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (reserve < 0) return absl::UnavailableError(strerror(errno));
  const int error = posix_fallocate(reserve, 0, kReserveBytes);
  close(reserve);
  return error == 0 ? absl::OkStatus() : absl::UnavailableError(strerror(error));
}

// True if everything in the folder was made by us, or nothing is there.
bool IsOurs(const fs::path& path) {
  std::error_code error;
  return fs::is_empty(path, error) || fs::exists(path / kMark, error);
}

}  // namespace

absl::StatusOr<OutputFolder> OutputFolder::Prepare(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (fs::exists(absolute, error) && !fs::is_directory(absolute, error)) {
    return CannotWrite(path, "it is a file");
  }
  if (fs::exists(absolute, error) && !IsOurs(absolute)) {
    return absl::InvalidArgumentError(
        StrCat("output folder '", path,
               "' holds something that dlcheck did not write; choose another with --out"));
  }
  fs::create_directories(absolute, error);
  if (error) return CannotWrite(path, error.message());
  for (const char* ours : {"runs", "result.json"}) {
    fs::remove_all(absolute / ours, error);
    if (error) return CannotWrite(path, error.message());
  }
  const OutputFolder folder(absolute.string());
  const Expected<Done> mark = WriteWholeFile((absolute / kMark).string(), "dlcheck\t1\n");
  if (!mark.ok()) return CannotWrite(path, mark.failure().message);
  const absl::Status reserved = Reserve((absolute / kReserve).string());
  if (!reserved.ok()) return CannotWrite(path, std::string(reserved.message()));
  fs::create_directory(absolute / "runs", error);
  if (error) return CannotWrite(path, error.message());
  return folder;
}

absl::StatusOr<OutputFolder> OutputFolder::Open(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (!fs::is_directory(absolute, error)) {
    return absl::InvalidArgumentError(StrCat("'", path, "' is not a folder"));
  }
  if (!fs::is_directory(absolute / "runs", error)) {
    return absl::InvalidArgumentError(
        StrCat("'", path, "' holds no runs of dlcheck (no folder 'runs' in it)"));
  }
  return OutputFolder(absolute.string());
}

absl::StatusOr<std::string> OutputFolder::AddRun(const std::string& name) const {
  // Numbered, so that their order is the order of their names.
  std::string number = std::to_string(Runs().size());
  number.insert(0, number.size() < 2 ? 2 - number.size() : 0, '0');
  const fs::path run = fs::path(path_) / "runs" / StrCat(number, "-", name);
  std::error_code error;
  fs::create_directory(run, error);
  if (error) {
    return absl::UnavailableError(StrCat("cannot make '", run.string(), "': ", error.message()));
  }
  return run.string();
}

std::vector<std::string> OutputFolder::Runs() const {
  std::vector<std::string> runs;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_ + "/runs", error)) {
    if (entry.is_directory(error)) runs.push_back(entry.path().string());
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

absl::Status OutputFolder::WriteResult(const std::string& json) const {
  unlink(StrCat(path_, "/", kReserve).c_str());
  const Expected<Done> written = WriteWholeFile(ResultPath(), json);
  return written.ok() ? absl::OkStatus() : ToStatus(written.failure());
}

}  // namespace dlcheck::cli
