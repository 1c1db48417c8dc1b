#include "diagnostics/cli/log_reader.h"

#include <stdlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "absl/strings/numbers.h"
#include "checks/engine/report.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/records/line_file.h"
#include "diagnostics/cli/config/options.h"
#include "diagnostics/cli/places.h"
#include "diagnostics/cli/quiet_child.h"

namespace dlcheck::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostLogBytes = size_t{256} << 20;
constexpr size_t kMostParsedBytes = size_t{1} << 30;  // what the process may write
constexpr size_t kMostMetrics = 512;                  // files of one run
constexpr rlim_t kMostMemory = rlim_t{4} << 30;
constexpr rlim_t kMostSeconds = 120;  // of a processor

bool IsEventFile(const fs::path& file) {
  return file.filename().string().find(".tfevents.") != std::string::npos;
}

bool IsLog(const fs::path& file) {
  const std::string name = file.filename().string();
  return name == "trainer_state.json" || name == "metrics.csv" || file.extension() == ".wandb" ||
         file.extension() == ".jsonl" || name.ends_with(".pt.trace.json") ||
         name.ends_with("snapshot.pickle") || IsEventFile(file);
}

// A run of MLflow has a folder with a file for each metric.
bool IsMlflow(const fs::path& folder) {
  std::error_code unknown;
  return fs::is_directory(folder / "metrics", unknown) && fs::exists(folder / "meta.yaml", unknown);
}

std::vector<std::string> MetricsOfMlflow(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  if (!IsMlflow(folder)) return files;
  for (fs::recursive_directory_iterator at(folder / "metrics", error), end; at != end && !error;
       at.increment(error)) {
    std::error_code unknown;
    if (at->is_regular_file(unknown)) files.push_back(at->path().string());
    if (files.size() > kMostMetrics) break;
  }
  return files;
}

// The name of a metric is that of its file, below the folder of all metrics.
void NameRows(const fs::path& file, const fs::path& path, Log& log) {
  const fs::path below = file == path ? file.filename() : file.lexically_relative(path / "metrics");
  for (LogRow& row : log.rows) {
    if (row.name.empty()) row.name = below.generic_string();
  }
}

std::string Written(const Log& log) {
  std::string text = FormatLine({"kind", log.kind});
  char number[40];
  for (const LogRow& row : log.rows) {
    std::snprintf(number, sizeof(number), "%.17g", row.value);
    text += FormatLine({"row", std::to_string(row.step), number, row.name});
  }
  for (const std::string& flaw : log.flaws) text += FormatLine({"flaw", flaw});
  return text;
}

Log Parsed(const std::string& text) {
  Log log{.kind = ""};
  for (const LineFields& fields : ParseLines(text)) {
    LogRow row;
    if (fields.size() == 2 && fields[0] == "kind") log.kind = fields[1];
    if (fields.size() == 2 && fields[0] == "flaw") log.flaws.push_back(fields[1]);
    if (fields.size() != 4 || fields[0] != "row") continue;
    if (!absl::SimpleAtoi(fields[1], &row.step)) continue;
    row.value = strtod(fields[2].c_str(), nullptr);
    row.name = fields[3];
    log.rows.push_back(std::move(row));
  }
  return log;
}

absl::StatusOr<Log> ReadApart(const std::string& file) {
  std::error_code unknown;
  if (const auto size = fs::file_size(file, unknown); !unknown && size > kMostLogBytes) {
    return absl::InvalidArgumentError(StrCat("'", file, "' is a log of ", size >> 20,
                                             " MiB; dlcheck reads at most ", kMostLogBytes >> 20,
                                             " MiB"));
  }
  std::string folder = fs::temp_directory_path(unknown).string() + "/dlcheck-log-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    return absl::UnavailableError(StrCat("cannot make a folder for what '", file, "' holds"));
  }
  const std::string out = folder + "/parsed";
  const absl::StatusOr<int> code =
      RunQuietly({SiblingBinary("dlcheck"), kReadLogCommand, file, out});
  const Expected<std::string> parsed = ReadWholeFile(out, kMostParsedBytes);
  const Expected<std::string> refusal = ReadWholeFile(out + ".refused", kMostParsedBytes);
  fs::remove_all(folder, unknown);
  if (!code.ok()) return code.status();
  if (refusal.ok()) return absl::InvalidArgumentError(StrCat("'", file, "': ", *refusal));
  if (*code != 0 || !parsed.ok()) {
    return absl::InvalidArgumentError(StrCat("'", file, "': it cannot be read within ",
                                             kMostSeconds, " s and ", kMostMemory >> 30,
                                             " GiB of memory"));
  }
  return Parsed(*parsed);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> LogFilesAt(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    if (fs::is_regular_file(path, error)) return std::vector<std::string>{path};
    return absl::NotFoundError(StrCat("'", path, "' is neither a folder nor a file"));
  }
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    std::error_code unknown;
    if (entry.is_regular_file(unknown) && IsLog(entry.path()))
      files.push_back(entry.path().string());
  }
  if (files.empty()) files = MetricsOfMlflow(path);
  std::ranges::sort(files);
  if (files.empty()) {
    return absl::NotFoundError(
        StrCat("'", path,
               "' holds no runs of dlcheck, and no metrics.csv, trainer_state.json, *.jsonl, "
               "*.wandb, *.pt.trace.json, *snapshot.pickle or *.tfevents.* file, and is no run of "
               "MLflow"));
  }
  if (files.size() > kMostMetrics) {
    return absl::InvalidArgumentError(
        StrCat("'", path, "' holds more than ", kMostMetrics, " files"));
  }
  // A run of TensorBoard or MLflow may have several files; others are a run each.
  const bool is_one = std::ranges::all_of(files, IsEventFile) || IsMlflow(path);
  if (files.size() > 1 && !is_one) {
    return absl::InvalidArgumentError(
        StrCat("'", path, "' holds several logs, name one of them: ", Listed(files)));
  }
  return files;
}

absl::StatusOr<Log> LogAt(const std::string& path) {
  DLCHECK_ASSIGN_OR_RETURN(const std::vector<std::string> files, LogFilesAt(path));
  Log all{.kind = ""};
  absl::Status last;
  for (const std::string& file : files) {
    absl::StatusOr<Log> log = ReadApart(file);
    if (!log.ok()) {
      last = log.status();
      if (files.size() > 1) all.flaws.emplace_back(last.message());
      continue;
    }
    NameRows(file, path, *log);
    if (IsMlflow(path) && !all.rows.empty()) {  // one clock, whatever each metric was logged at
      std::erase_if(log->rows, [](const LogRow& row) { return RoleOf(row.name) == Role::kTime; });
    }
    all.kind = log->kind;
    all.rows.insert(all.rows.end(), log->rows.begin(), log->rows.end());
    all.flaws.insert(all.flaws.end(), log->flaws.begin(), log->flaws.end());
  }
  if (all.rows.empty()) return last;
  KeepLatest(all);
  return all;
}

int ReadLogMain(const Words& words) {
  if (words.size() != 2) return kExitUsage;
  const rlimit memory{kMostMemory, kMostMemory}, seconds{kMostSeconds, kMostSeconds};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CPU, &seconds);
  const Expected<std::string> content = ReadWholeFile(words[0], kMostLogBytes);
  const absl::StatusOr<Log> log =
      content.ok() ? ReadLog(*content) : absl::InvalidArgumentError(content.failure().message);
  const std::string out = log.ok() ? words[1] : words[1] + ".refused";
  const std::string text = log.ok() ? Written(*log) : std::string(log.status().message());
  return WriteWholeFile(out, text).ok() ? kExitClean : kExitUsage;
}

}  // namespace dlcheck::cli
