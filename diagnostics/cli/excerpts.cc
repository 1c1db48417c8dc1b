#include "diagnostics/cli/excerpts.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "checks/records/line_file.h"
#include "checks/records/version.h"
#include "diagnostics/render/html/markup.h"

namespace dlcheck::cli {
namespace {

constexpr int kAround = 5;
constexpr size_t kMostFileBytes = 4 << 20;
constexpr size_t kMostExcerpts = 200;
constexpr size_t kLongestLine = 300;

using Lines = std::vector<std::string>;

Lines LinesOf(const std::string& path) {
  Lines lines;
  const Expected<std::string> text = ReadWholeFile(path, kMostFileBytes);
  if (!text.ok()) return lines;
  std::istringstream in(*text);
  for (std::string line; std::getline(in, line);) lines.push_back(html::Cut(line, kLongestLine));
  return lines;
}

Excerpt Around(const Place& place, const Lines& lines) {
  const int first = std::max(1, place.line - kAround);
  const int last = std::min(static_cast<int>(lines.size()), place.line + kAround);
  return {.file = place.file,
          .line = place.line,
          .first_line = first,
          .lines = Lines(lines.begin() + first - 1, lines.begin() + last)};
}

}  // namespace

std::vector<Excerpt> ExcerptsOf(const Report& report) {
  std::map<std::string, Lines> files;
  std::vector<Excerpt> excerpts;
  for (const Result& result : report.results) {
    for (const Finding& finding : result.verdict.findings) {
      const auto place = std::ranges::find_if(
          finding.places, [](const Place& p) { return !p.file.empty() && p.line > 0; });
      if (place == finding.places.end() || excerpts.size() == kMostExcerpts) continue;
      const auto [file, fresh] = files.try_emplace(place->file);
      if (fresh) file->second = LinesOf(place->file);
      if (static_cast<size_t>(place->line) > file->second.size()) continue;
      excerpts.push_back(Around(*place, file->second));
    }
  }
  return excerpts;
}

std::vector<std::pair<std::string, std::string>> EnvironmentOf(const Evidence& evidence) {
  std::vector<std::pair<std::string, std::string>> environment = {
      {"dlcheck", std::string(kVersion)}};
  const Run* plain = evidence.RunOf(kPlain);
  if (plain == nullptr) return environment;
  for (const char* key : {"python", "torch", "world_size", "program"}) {
    const std::string_view value = plain->trace.ProcessAttribute(key);
    if (!value.empty()) environment.emplace_back(key, value);
  }
  return environment;
}

}  // namespace dlcheck::cli
