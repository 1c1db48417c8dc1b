// `dlcheck reference [DIR]`: trains baseline models on the batches that a watched program was
// given, or on a data file.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "checks/engine/text.h"
#include "checks/records/line_file.h"
#include "diagnostics/baseline/baseline_result.h"
#include "diagnostics/cli/command_line.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/options.h"
#include "diagnostics/cli/places.h"
#include "diagnostics/cli/quiet_child.h"

namespace dlcheck::cli {
namespace {

namespace fs = std::filesystem;

bool IsCapture(const fs::path& file) {
  std::error_code error;
  return file.filename().string().starts_with("capture-") && file.extension() == ".batches" &&
         fs::is_regular_file(fs::symlink_status(file, error));
}

// The largest, where several processes of a run wrote one; empty if there is none.
std::string CaptureIn(const std::string& folder) {
  std::string largest;
  uintmax_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder + "/runs", error), end; at != end && !error;
       at.increment(error)) {
    if (at.depth() != 1 || !IsCapture(at->path())) continue;
    const uintmax_t size = fs::file_size(at->path(), error);
    if (largest.empty() || size > bytes) largest = at->path().string();
    if (largest == at->path().string()) bytes = size;
  }
  return largest;
}

// `source` is what was trained on.
absl::Status WritePage(const std::string& json, const std::string& source,
                       const std::string& folder) {
  std::ifstream file(json);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const absl::StatusOr<BaselineResult> result = ParseBaseline(text);
  if (!result.ok()) return result.status();
  const std::string page = folder + "/reference.html";
  const Expected<Done> done = WriteWholeFile(page, RenderBaselineHtml(*result, source));
  if (!done.ok()) return absl::UnavailableError(done.failure().message);
  std::printf("%s\n%s\n", json.c_str(), page.c_str());
  return absl::OkStatus();
}

// Runs the trainer, with these words, and writes the page of its result. `source` names what was
// trained on.
int TrainAndTell(std::vector<std::string> training, const std::string& source,
                 const std::string& folder) {
  const std::string json = folder + "/reference.json";
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  fs::remove(json, ignored);  // of an earlier time
  training.insert(training.end(), {"--baseline-json", json});
  const absl::StatusOr<int> status = RunAloud(training);
  if (!status.ok()) return Refuse(status.status());
  if (fs::exists(json, ignored)) {
    const absl::Status written = WritePage(json, source, folder);
    if (!written.ok()) return Refuse(written);
  }
  return *status;
}

}  // namespace

int ReferenceMain(const Words& words) {
  std::string folder = "dlcheck-out";
  std::optional<std::string> data;
  std::optional<int64_t> steps;
  CommandLine line(
      "reference [OPTIONS] [DIR]",
      "Trains baseline models on the batches of a run with --capture, in their order, and says "
      "whether\n"
      "the program learns as much. Exits 1 if it learns nothing, or less than the plainest "
      "baseline.\n"
      "With --data it says what baseline models learn from a data file.");
  line.Value("DIR", "DIR", &folder, "an output folder of dlcheck run --capture (dlcheck-out)");
  line.Value("--data", "FILE", &data,
             "instead of a run: a data file, as dlcheck-data import or dlcheck.export makes one");
  line.Value("--steps", "N", &steps, "of --data: how many steps the models train (300)",
             {.positive = true});
  if (const auto code = line.Parse(words)) return *code;
  const std::string trainer = SiblingBinary("dlcheck-train");
  if (access(trainer.c_str(), X_OK) != 0) {
    return Refuse(absl::InvalidArgumentError(
        StrCat("'", trainer, "' is not there: this dlcheck was built without LibTorch")));
  }
  if (steps && !data) return Refuse(absl::InvalidArgumentError("--steps is an option of --data"));
  const std::string source = data ? *data : CaptureIn(folder);
  if (source.empty()) {
    return Refuse(absl::InvalidArgumentError(
        StrCat("'", folder,
               "' holds no captured batches: dlcheck run --capture 1000 -- PROGRAM keeps "
               "them of a program that steps, with a loss over classes or numbers")));
  }
  std::vector<std::string> training = {trainer, "--baseline", source};
  if (steps) training.push_back(StrCat("--baseline-steps=", *steps));
  return TrainAndTell(std::move(training), data ? *data : folder, folder);
}

}  // namespace dlcheck::cli
