#include "checks/records/request.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "checks/records/checked_lines.h"
#include "checks/records/line_file.h"
#include "checks/records/trace_writer.h"

namespace dlcheck {
namespace {

constexpr size_t kMostRequestBytes = 1 << 20;

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
struct IntegerKey {
  const char* name;
  std::optional<int64_t> Request::*value;
};
constexpr IntegerKey kIntegerKeys[] = {{"steps", &Request::steps},
                                       {"at_step", &Request::at_step},
                                       {"saved_step", &Request::saved_step},
                                       {"end_step", &Request::end_step},
                                       {"whole_first", &Request::whole_first},
                                       {"whole_last", &Request::whole_last},
                                       {"samples", &Request::samples},
                                       {"capture", &Request::capture},
                                       {"seed", &Request::seed}};

// False where the value is not of the kind that the key has.
bool Take(const std::string& key, const std::string& value, Request& request) {
  int64_t integer = 0;
  double number = 0;
  for (const IntegerKey& known : kIntegerKeys) {
    if (key != known.name) continue;
    if (!ReadInteger(value, integer)) return false;
    request.*known.value = integer;
  }
  if (key == "run_folder") {
    request.run_folder = value;
  } else if (key == "experiment") {
    request.experiment = value;
  } else if (key == "repetition") {
    if (!ReadInteger(value, integer)) return false;
    request.repetition = static_cast<int>(integer);
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
  for (const IntegerKey& known : kIntegerKeys) {
    const std::optional<int64_t>& value = request.*known.value;
    if (value) text += FormatLine({known.name, std::to_string(*value)});
  }
  if (!request.other_folder.empty()) text += FormatLine({"other_folder", request.other_folder});
  if (request.keep_batch) text += FormatLine({"keep_batch", "1"});
  if (request.reference_rate) {
    char number[40];
    std::snprintf(number, sizeof(number), "%.17g", *request.reference_rate);
    text += FormatLine({"reference_rate", number});
  }
  if (request.run.empty()) return text;
  return WithCheck(text + FormatLine({"run", request.run}));
}

Expected<Request> ReadRequest(const std::string& path) {
  Expected<std::string> text = ReadWholeFile(path, kMostRequestBytes);
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
