#include "reference/training/run_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

using Json = nlohmann::ordered_json;

// Bytes of the lines that a run which goes on at `step` does not write again. A torn line and all
// that follows it go.
off_t BytesToKeep(const std::string& path, int64_t step, bool evaluated) {
  std::ifstream file(path, std::ios::binary);
  off_t bytes = 0;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) break;
    const int64_t at = json["step"].get<int64_t>();
    const bool is_kept = at < step || (evaluated && at == step && json.contains("val_loss"));
    if (!is_kept) break;
    bytes += static_cast<off_t>(line.size()) + 1;
  }
  if (file.bad()) throw UsageError("log '" + path + "' cannot be read");
  return bytes;
}

// Whatever else is in a file would be lost.
void RefuseOtherFiles(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size == 0) return;
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::getline(file, line);
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("step")) {
    throw UsageError("log '" + path + "' holds something else; give another file");
  }
}

}  // namespace

RunLog::RunLog(const std::string& path, int64_t step, bool evaluated) {
  if (path.empty()) return;
  RefuseOtherFiles(path);
  const off_t keep = step == 0 && !evaluated ? 0 : BytesToKeep(path, step, evaluated);
  file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  struct stat about {};
  const bool is_stream = file_ >= 0 && fstat(file_, &about) == 0 && !S_ISREG(about.st_mode);
  if (file_ < 0 || (!is_stream && ftruncate(file_, keep) != 0)) {
    throw UsageError("log '" + path + "' cannot be written: " + std::strerror(errno));
  }
}

RunLog::~RunLog() {
  if (file_ >= 0) close(file_);
}

void RunLog::Write(const Step& step) {
  const double seconds = std::chrono::duration<double>(Clock::now() - line_begin_).count();
  line_begin_ = Clock::now();
  // JSON has no number for what is not finite; null stands for it.
  WriteLine(Json{{"step", step.step},
                 {"epoch", step.epoch},
                 {"updates", step.updates},
                 {"skipped", step.skipped},
                 {"loss", step.loss},
                 {"rates", step.rates},
                 {"gradient_norm", step.gradient_norm},
                 {"loss_scale", step.loss_scale},
                 {"samples_per_second", step.samples / seconds},
                 {"tokens_per_second", step.tokens > 0 ? Json(step.tokens / seconds) : Json()},
                 {"peak_memory", step.peak_memory},
                 {"seconds", Seconds()}}
                .dump());
}

void RunLog::WriteEvaluation(int64_t step, double loss, double accuracy) {
  WriteLine(
      Json{{"step", step}, {"val_loss", loss}, {"val_accuracy", accuracy}, {"seconds", Seconds()}}
          .dump());
}

// One call a line, so that a reader never sees half of one. A full disk loses lines of the log and
// not the run.
void RunLog::WriteLine(const std::string& line) {
  if (file_ < 0) return;
  const std::string whole = line + "\n";
  const ssize_t written = write(file_, whole.data(), whole.size());
  if (written == static_cast<ssize_t>(whole.size())) return;
  std::fprintf(stderr, "dlcheck-train: the log ends here: %s\n",
               written < 0 ? std::strerror(errno) : "a line could be written in part only");
  close(file_);
  file_ = -1;
}

double RunLog::Seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

}  // namespace dlcheck::reference
