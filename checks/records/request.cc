#include "checks/records/request.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "checks/records/checked_lines.h"
#include "checks/records/line_file.h"
#include "checks/records/trace_writer.h"

namespace dlcheck {
namespace {

constexpr size_t kLimitBytes = 1 << 20;

bool ReadInteger(const std::string& text, int64_t& out) {
  char* end = nullptr;
  out = std::strtoll(text.c_str(), &end, 10);
  return !text.empty() && *end == '\0';
}

bool ReadNumber(const std::string& text, double& out) {
  char* end = nullptr;
  out = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

// False if the value of a known key cannot be read.
bool Take(const std::string& key, const std::string& value, Request& request) {
  int64_t integer = 0;
  double number = 0;
  if (key == "run_folder") {
    request.run_folder = value;
  } else if (key == "experiment") {
    request.experiment = value;
  } else if (key == "repetition") {
    if (!ReadInteger(value, integer)) return false;
    request.repetition = static_cast<int>(integer);
  } else if (key == "steps") {
    if (!ReadInteger(value, integer)) return false;
    request.steps = integer;
  } else if (key == "at_step") {
    if (!ReadInteger(value, integer)) return false;
    request.at_step = integer;
  } else if (key == "saved_step") {
    if (!ReadInteger(value, integer)) return false;
    request.saved_step = integer;
  } else if (key == "end_step") {
    if (!ReadInteger(value, integer)) return false;
    request.end_step = integer;
  } else if (key == "seed") {
    if (!ReadInteger(value, integer)) return false;
    request.seed = integer;
  } else if (key == "size_cap_bytes") {
    if (!ReadInteger(value, integer)) return false;
    request.size_cap_bytes = integer;
  } else if (key == "other_folder") {
    request.other_folder = value;
  } else if (key == "run") {
    request.run = value;
  } else if (key == "keep_batch") {
    request.keep_batch = value == "1";
  } else if (key == "reference_rate") {
    if (!ReadNumber(value, number)) return false;
    request.reference_rate = number;
  }
  return true;
}

}  // namespace

bool Request::operator==(const Request& other) const {
  return FormatRequest(*this) == FormatRequest(other);
}

std::string FormatRequest(const Request& request) {
  std::string text = FormatLine({"run_folder", request.run_folder}) +
                     FormatLine({"experiment", request.experiment}) +
                     FormatLine({"repetition", std::to_string(request.repetition)}) +
                     FormatLine({"size_cap_bytes", std::to_string(request.size_cap_bytes)});
  if (request.steps) text += FormatLine({"steps", std::to_string(*request.steps)});
  if (request.at_step) text += FormatLine({"at_step", std::to_string(*request.at_step)});
  if (request.saved_step) text += FormatLine({"saved_step", std::to_string(*request.saved_step)});
  if (request.end_step) text += FormatLine({"end_step", std::to_string(*request.end_step)});
  if (!request.other_folder.empty()) text += FormatLine({"other_folder", request.other_folder});
  if (request.keep_batch) text += FormatLine({"keep_batch", "1"});
  if (request.seed) text += FormatLine({"seed", std::to_string(*request.seed)});
  if (request.reference_rate) {
    char number[40];
    std::snprintf(number, sizeof(number), "%.17g", *request.reference_rate);
    text += FormatLine({"reference_rate", number});
  }
  if (request.run.empty()) return text;
  return WithCheck(text + FormatLine({"run", request.run}));
}

Expected<Request> ReadRequest(const std::string& path) {
  Expected<std::string> text = ReadWholeFile(path, kLimitBytes);
  if (!text.ok()) return text.failure();
  Request request;
  for (const LineFields& fields : ParseLines(*text)) {
    if (fields.size() < 2) continue;
    if (!Take(fields[0], fields[1], request)) {
      return Failure{Failure::Cause::kInvalid,
                     "'" + path + "': cannot read " + fields[0] + " '" + fields[1] + "'"};
    }
  }
  if (!request.run.empty()) {
    const Expected<std::string> whole = WithoutCheck(*text, path);
    if (!whole.ok()) return whole.failure();
  }
  if (request.run_folder.empty()) {
    return Failure{Failure::Cause::kInvalid, "'" + path + "' names no run_folder"};
  }
  return request;
}

std::optional<Request> RequestFromEnvironment() {
  const char* path = std::getenv(kRequestVariable);
  if (path == nullptr || std::getenv("DLCHECK_DISABLE") != nullptr) return std::nullopt;
  Expected<Request> request = ReadRequest(path);
  if (request.ok()) return *request;
  const std::string file = path;
  NoteLoss(file.substr(0, file.rfind('/')), static_cast<uint32_t>(getpid()),
           request.failure().message);
  return std::nullopt;
}

}  // namespace dlcheck
