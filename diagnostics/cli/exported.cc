#include "diagnostics/cli/exported.h"

#include <cstdio>
#include <filesystem>
#include <random>

#include "absl/time/clock.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/records/line_file.h"
#include "checks/records/visible.h"

namespace dlcheck::cli {
namespace {

constexpr std::pair<std::string_view, Export::Format> kFormats[] = {
    {"csv", Export::Format::kCsv},
    {"tensorboard", Export::Format::kTensorboard},
    {"mlflow", Export::Format::kMlflow}};

// A name that no other run has: 32 hexadecimal digits.
std::string NewRunId() {
  std::random_device random;
  std::string id;
  char digits[9];
  for (int part = 0; part < 4; ++part) {
    std::snprintf(digits, sizeof(digits), "%08x", static_cast<unsigned>(random()));
    id += digits;
  }
  return id;
}

absl::Status WriteFileIn(const std::string& folder, const std::string& name,
                         const std::string& content) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const Expected<Done> done = WriteWholeFile(folder + "/" + name, content);
  return done.ok() ? absl::OkStatus() : absl::UnavailableError(done.failure().message);
}

absl::Status WriteOne(const Export& one, const Log& log) {
  const double now = absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch());
  if (one.format == Export::Format::kTensorboard) {
    // The name that TensorBoard looks for, with an end that no other file of the folder has.
    const std::string name = StrCat("events.out.tfevents.", static_cast<int64_t>(now), ".dlcheck.",
                                    NewRunId().substr(0, 8));
    return WriteFileIn(one.path, name, EventFileOf(log, now));
  }
  if (one.format == Export::Format::kMlflow) {
    return WriteMlflow(log, now, NewRunId(), one.path);
  }
  const Expected<Done> done = WriteWholeFile(one.path, CsvOf(log));
  return done.ok() ? absl::OkStatus() : absl::UnavailableError(done.failure().message);
}

}  // namespace

absl::StatusOr<std::vector<Export>> ExportsFrom(const std::vector<std::string>& texts) {
  std::vector<Export> exports;
  for (const std::string& text : texts) {
    const size_t end = text.find('=');
    const size_t before = exports.size();
    for (const auto& [name, format] : kFormats) {
      if (end == std::string::npos || end + 1 == text.size() || text.substr(0, end) != name)
        continue;
      exports.push_back({format, text.substr(end + 1)});
    }
    if (exports.size() > before) continue;
    return absl::InvalidArgumentError(
        StrCat("--export '", text, "': write csv=FILE, tensorboard=FOLDER or mlflow=FOLDER"));
  }
  return exports;
}

absl::Status WriteExports(const std::vector<Export>& exports, const Run& run) {
  if (exports.empty()) return absl::OkStatus();
  const Log log = LogOf(run);
  for (const Export& one : exports) {
    DLCHECK_RETURN_IF_ERROR(WriteOne(one, log));
    std::fprintf(stderr, "dlcheck  wrote %s to %s\n",
                 Counted(static_cast<int64_t>(log.rows.size()), "number").c_str(),
                 Visible(one.path).c_str());
  }
  return absl::OkStatus();
}

}  // namespace dlcheck::cli
