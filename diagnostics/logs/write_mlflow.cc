// Source: mlflow/store/tracking/file_store.py and mlflow/utils/validation.py of the mlflow package.
#include <cstdio>
#include <filesystem>
#include <map>

#include "absl/strings/ascii.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/records/line_file.h"
#include "diagnostics/logs/export.h"

namespace dlcheck {
namespace {

namespace fs = std::filesystem;

// Letters that MLflow takes in a name; a name is a path below the folder of metrics.
std::string Allowed(const std::string& name) {
  std::string allowed;
  for (const char c : name) {
    const bool fits = absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                      std::string_view("_-. :/").find(c) != std::string_view::npos;
    allowed += fits ? c : '_';
  }
  std::string result;
  for (const fs::path& part : fs::path(allowed)) {
    if (part.empty() || part == "/") continue;
    result += result.empty() ? "" : "/";
    result += part == "." || part == ".." ? "_" : part.string();
  }
  return result.empty() ? "_" : result;
}

// No name may be the folder of another one.
using Metrics = std::map<std::string, std::string>;

std::string FileOf(const std::string& name, const Metrics& metrics) {
  const auto below = metrics.lower_bound(name + "/");
  const bool is_folder = below != metrics.end() && below->first.starts_with(name + "/");
  return is_folder ? name + "_" : name;
}

absl::Status Put(const fs::path& file, const std::string& text) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const Expected<Done> done = WriteWholeFile(file.string(), text);
  return done.ok() ? absl::OkStatus() : absl::UnavailableError(done.failure().message);
}

std::string YamlQuoted(const std::string& path) {
  std::string quoted = "'";
  for (const char c : path) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

absl::Status WriteMlflow(const Log& log, double now, const std::string& run_id,
                         const std::string& folder) {
  const auto milliseconds = static_cast<int64_t>(1000 * now);
  const fs::path experiment = fs::absolute(folder) / "0", run = experiment / run_id;
  Metrics metrics;  // lines by name
  for (const LogRow& row : log.rows) {
    char line[96];
    std::snprintf(line, sizeof(line), "%lld %.17g %lld\n", static_cast<long long>(milliseconds),
                  row.value, static_cast<long long>(row.step));
    metrics[Allowed(row.name)] += line;
  }
  for (const auto& [name, lines] : metrics)
    DLCHECK_RETURN_IF_ERROR(Put(run / "metrics" / FileOf(name, metrics), lines));
  for (const char* name : {"params", "tags", "artifacts"}) {
    std::error_code error;
    fs::create_directories(run / name, error);
  }
  const std::string times =
      StrCat("start_time: ", milliseconds, "\nend_time: ", milliseconds, "\n");
  DLCHECK_RETURN_IF_ERROR(Put(
      run / "meta.yaml",
      StrCat("artifact_uri: ", YamlQuoted((run / "artifacts").string()), "\nentry_point_name: ''\n",
             "experiment_id: '0'\nlifecycle_stage: active\nrun_id: ", YamlQuoted(run_id),
             "\nrun_name: dlcheck\nsource_name: ''\nsource_type: 4\nsource_version: ''\n", times,
             "status: 3\ntags: []\nuser_id: dlcheck\n")));
  if (fs::exists(experiment / "meta.yaml")) return absl::OkStatus();
  return Put(experiment / "meta.yaml",
             StrCat("artifact_location: ", YamlQuoted(experiment.string()), "\ncreation_time: ",
                    milliseconds, "\nexperiment_id: '0'\nlast_update_time: ", milliseconds,
                    "\nlifecycle_stage: active\nname: Default\n"));
}

}  // namespace dlcheck
