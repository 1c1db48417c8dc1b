#include "checks/records/checked_lines.h"

#include "checks/records/crc32.h"
#include "checks/records/line_file.h"

namespace dlcheck {
namespace {

std::string CheckLine(std::string_view lines) {
  return FormatLine({"check", std::to_string(Crc32(lines))});
}

}  // namespace

std::string WithCheck(const std::string& lines) { return lines + CheckLine(lines); }

Expected<std::string> WithoutCheck(std::string_view text, const std::string& path) {
  const size_t end = text.empty() ? std::string_view::npos : text.rfind('\n', text.size() - 2);
  const std::string_view lines = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
  if (text.substr(lines.size()) != CheckLine(lines)) {
    return Failure{Failure::Cause::kDamaged, "'" + path + "' is damaged"};
  }
  return std::string(lines);
}

}  // namespace dlcheck
