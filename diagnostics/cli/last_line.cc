#include "diagnostics/cli/last_line.h"

#include <algorithm>
#include <fstream>
#include <string_view>

#include "absl/strings/ascii.h"

namespace dlcheck::cli {
namespace {

constexpr std::streamoff kMostBytes = 4096;  // from the end of the output
constexpr size_t kMostCharacters = 160;

std::string EndOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - kMostBytes));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

void AddLastLine(const std::string& output, Run& run) {
  if (run.ending.how != Ending::How::kFailed) return;
  std::string text = EndOf(output);
  absl::StripAsciiWhitespace(&text);
  std::string line = text.substr(text.find_last_of("\n\r") + 1);
  for (char& c : line) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  if (line.size() > kMostCharacters) line = line.substr(0, kMostCharacters) + "...";
  if (!line.empty()) run.trace.SetProcessAttribute("last_line", line);
}

}  // namespace dlcheck::cli
