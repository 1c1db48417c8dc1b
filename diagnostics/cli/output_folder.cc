#include "diagnostics/cli/output_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/records/line_file.h"

namespace dlcheck::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReserve = ".reserve";  // space for the result
constexpr off_t kReserveBytes = 256 << 10;
constexpr int kMostFolders = 99;  // of the default name that are tried
constexpr mode_t kOwnFile = 0600;
constexpr mode_t kOwnFolder = 0700;

absl::Status CannotWrite(const std::string& path, const std::string& cause) {
  return absl::InvalidArgumentError(StrCat("cannot write output folder '", path, "': ", cause));
}

// Sets space aside on the disk. A limit of file sizes is none of the disk.
absl::Status Reserve(const std::string& file) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int reserve = open(file.c_str(), kFlags, kOwnFile);
  if (reserve < 0) return absl::UnavailableError(strerror(errno));
  const int error = posix_fallocate(reserve, 0, kReserveBytes);
  close(reserve);
  return error == 0 || error == EFBIG ? absl::OkStatus() : absl::UnavailableError(strerror(error));
}

// True if everything in the folder was made by us, or nothing is there.
bool IsOurs(const fs::path& path) {
  std::error_code error;
  return fs::is_empty(path, error) ||
         fs::is_regular_file(fs::symlink_status(path / kMarkFile, error));
}

// Records are not to be committed with the program that they are of.
void HideFromGit(const std::string& folder) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int file = open(StrCat(folder, "/.gitignore").c_str(), kFlags, kOwnFile);
  if (file < 0) return;  // the user's own, or no space for it
  (void)!write(file, "*\n", 2);
  close(file);
}

// Makes the folder, and those above it as the user's umask has it.
absl::Status Make(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (error) return absl::UnavailableError(error.message());
  if (mkdir(folder.c_str(), kOwnFolder) == 0 || errno == EEXIST) return absl::OkStatus();
  return absl::UnavailableError(strerror(errno));
}

absl::StatusOr<std::string> MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), kOwnFolder) == 0 || errno == EEXIST) return path;
  return absl::UnavailableError(StrCat("cannot make '", path, "': ", strerror(errno)));
}

// InvalidArgument with `otherwise` where there is no such folder.
absl::Status RequireFolder(const fs::path& folder, const std::string& otherwise) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (fs::is_directory(status)) return absl::OkStatus();
  const bool is_known = fs::status_known(status);
  return absl::InvalidArgumentError(
      is_known ? otherwise : StrCat("cannot read '", folder.string(), "': ", error.message()));
}

// Removes what an earlier run wrote. A link is removed, not what it leads to.
absl::Status Empty(const fs::path& folder) {
  std::error_code error;
  for (const char* ours :
       {"runs", "suggestion", "result.json", "report.html", "series.json", kReserve}) {
    fs::remove_all(folder / ours, error);
    if (error) return absl::UnavailableError(error.message());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OutputFolder> OutputFolder::PrepareOne(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (absolute.string().find(':') != std::string::npos) {
    return absl::InvalidArgumentError(StrCat(
        "output folder '", absolute.string(),
        "' has a ':' in its path, which PYTHONPATH cannot hold; choose another with --output-dir"));
  }
  if (fs::exists(absolute, error) && !fs::is_directory(absolute, error)) {
    return CannotWrite(path, "it is a file");
  }
  if (fs::exists(absolute, error) && access(absolute.c_str(), R_OK | W_OK | X_OK) != 0) {
    return CannotWrite(path, strerror(errno));  // as that of another user
  }
  if (fs::exists(absolute, error) && !IsOurs(absolute)) {
    return absl::InvalidArgumentError(
        StrCat("output folder '", path,
               "' holds something that dlcheck did not write; choose another with --output-dir"));
  }
  // Without the slash at the end, which a name may have.
  OutputFolder folder(absolute.has_filename() ? absolute.string() : absolute.parent_path().string(),
                      path);
  absl::Status made = Make(folder.path_);
  if (!made.ok()) return CannotWrite(path, std::string(made.message()));
  DLCHECK_ASSIGN_OR_RETURN(folder.lock_, FolderLock::Take(folder.path_));
  made = Empty(folder.path_);
  if (made.ok()) made = Reserve(StrCat(folder.path_, "/", kReserve));
  if (!made.ok()) return CannotWrite(path, std::string(made.message()));
  HideFromGit(folder.path_);
  if (mkdir(StrCat(folder.path_, "/runs").c_str(), kOwnFolder) != 0) {
    return CannotWrite(path, strerror(errno));
  }
  return folder;
}

absl::StatusOr<OutputFolder> OutputFolder::Prepare(const std::string& path, bool is_default) {
  absl::StatusOr<OutputFolder> folder = PrepareOne(path);
  const std::string in_use(folder.status().message());
  for (int number = 2; absl::IsResourceExhausted(folder.status()); ++number) {
    if (!is_default || number > kMostFolders) {
      return absl::InvalidArgumentError(StrCat("output folder '", path, "' is in use: ", in_use,
                                               "; choose another with --output-dir"));
    }
    folder = PrepareOne(StrCat(path, ".", number));
  }
  if (folder.ok() && folder->shown_ != path) {
    std::fprintf(stderr, "dlcheck  '%s' is in use (%s); this run writes '%s'\n", path.c_str(),
                 in_use.c_str(), folder->shown_.c_str());
  }
  return folder;
}

absl::StatusOr<OutputFolder> OutputFolder::Open(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  DLCHECK_RETURN_IF_ERROR(RequireFolder(absolute, StrCat("'", path, "' is not a folder")));
  DLCHECK_RETURN_IF_ERROR(RequireFolder(
      absolute / "runs", StrCat("'", path, "' holds no runs of dlcheck (no folder 'runs' in it)")));
  return OutputFolder(absolute.string(), path);
}

absl::StatusOr<std::string> OutputFolder::AddRun(const std::string& name) const {
  // Numbered, so that their order is the order of their names.
  DLCHECK_ASSIGN_OR_RETURN(const std::vector<std::string> runs, Runs());
  std::string number = std::to_string(runs.size());
  number.insert(0, number.size() < 2 ? 2 - number.size() : 0, '0');
  const std::string run = StrCat(path_, "/runs/", number, "-", name);
  if (mkdir(run.c_str(), kOwnFolder) != 0) {
    return absl::UnavailableError(StrCat("cannot make '", run, "': ", strerror(errno)));
  }
  return run;
}

absl::StatusOr<std::string> OutputFolder::AddSuggestion() const {
  return MakeFolder(path_ + "/suggestion");
}

absl::StatusOr<std::string> OutputFolder::AddSuggested(int64_t steps) const {
  DLCHECK_ASSIGN_OR_RETURN(const std::string folder, AddSuggestion());
  return MakeFolder(StrCat(folder, "/run-", steps));
}

absl::StatusOr<std::vector<std::string>> OutputFolder::Runs() const {
  const std::string folder = path_ + "/runs";
  std::vector<std::string> runs;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->is_directory(error)) runs.push_back(entry->path().string());
    if (error) break;
  }
  if (error) return absl::UnavailableError(StrCat("cannot list '", folder, "': ", error.message()));
  std::sort(runs.begin(), runs.end());
  return runs;
}

absl::Status OutputFolder::WriteBeside(const char* name, const std::string& text) const {
  const Expected<Done> written = WriteWholeFile(StrCat(path_, "/", name), text, kOwnFile);
  return written.ok() ? absl::OkStatus() : ToStatus(written.failure());
}

absl::Status OutputFolder::WriteResult(const std::string& json) const {
  unlink(StrCat(path_, "/", kReserve).c_str());
  const Expected<Done> written = WriteWholeFile(ResultPath(), json, kOwnFile);
  return written.ok() ? absl::OkStatus() : ToStatus(written.failure());
}

}  // namespace dlcheck::cli
