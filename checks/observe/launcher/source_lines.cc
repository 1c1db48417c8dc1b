#include "checks/observe/launcher/source_lines.h"

#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "checks/engine/text.h"
#include "checks/observe/launcher/child_output.h"
#include "checks/records/line_file.h"
#include "checks/records/names.h"
#include "checks/records/record_reader.h"

namespace dlcheck {
namespace {

constexpr absl::Duration kMostTime = absl::Seconds(30);
constexpr size_t kMostOutput = size_t{16} << 20;
constexpr size_t kMostNames = size_t{64} << 20;

// A frame of a site: file of code and offset in it, as text.
using Frame = std::pair<std::string, std::string>;
using Lines = std::map<Frame, std::vector<NamedSite>>;  // the innermost inlined one first

// Of a forward pass, whose line is that of its caller.
bool IsOfForward(std::string_view site) { return site.starts_with("@^"); }

// "@/train+0x1a|/lib.so+0x2b": the innermost first.
std::vector<Frame> FramesOf(std::string_view site) {
  std::vector<Frame> frames;
  const size_t mark = IsOfForward(site) ? 2 : 1;
  const std::vector<std::string> all = absl::StrSplit(std::string(site.substr(mark)), '|');
  for (const std::string& frame : all) {
    const size_t plus = frame.rfind('+');
    if (plus == std::string::npos) continue;
    frames.emplace_back(frame.substr(0, plus), frame.substr(plus + 1));
  }
  return frames;
}

std::set<std::string> RecordedSites(const std::string& run_folder) {
  std::set<std::string> sites;
  const Expected<std::vector<std::string>> stems = RecordFileStems(run_folder);
  if (!stems.ok()) return sites;
  for (const std::string& stem : *stems) {
    const Expected<std::string> text = ReadWholeFile(stem + ".names", kMostNames);
    if (!text.ok()) continue;
    for (const LineFields& fields : ParseLines(*text)) {
      if (fields.size() >= 5 && fields[0] == "site" && fields[2].starts_with("@")) {
        sites.insert(fields[2]);
      }
    }
  }
  return sites;
}

// "/home/me/train.cc:31" or "??:0", perhaps with a discriminator behind it.
NamedSite SiteOf(std::string_view function, std::string_view place) {
  NamedSite site;
  site.function = std::string(function == "??" ? "" : function);
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || place.starts_with("??")) return site;
  const std::string number(place.substr(colon + 1));
  if (absl::SimpleAtoi(number.substr(0, number.find(' ')), &site.line) && site.line > 0) {
    site.file = std::string(place.substr(0, colon));
  }
  return site;
}

// Asks for all offsets of one file at once: each is answered by its address, and two lines for each
// function that was inlined there.
void LookUp(const std::string& file, const std::vector<std::string>& offsets, Lines& lines) {
  for (const char* program : {"addr2line", "llvm-addr2line", "eu-addr2line"}) {
    std::vector<std::string> command = {program, "-a", "-f", "-C", "-i", "-e", file};
    command.insert(command.end(), offsets.begin(), offsets.end());
    const absl::StatusOr<std::string> answer = OutputOf(command, {}, kMostTime, kMostOutput);
    if (!answer.ok()) continue;
    const std::vector<std::string> text = absl::StrSplit(*answer, '\n');
    size_t asked = 0;
    for (size_t i = 0; i + 1 < text.size();) {
      if (text[i].starts_with("0x")) {
        if (asked >= offsets.size()) return;
        lines[{file, offsets[asked++]}];
        ++i;
      } else if (asked > 0) {
        lines[{file, offsets[asked - 1]}].push_back(SiteOf(text[i], text[i + 1]));
        i += 2;
      } else {
        return;
      }
    }
    return;
  }
}

// Code of headers is not what a user looks for.
bool IsOfLibrary(std::string_view file) {
  for (const std::string_view part :
       {"/include/torch/", "/include/ATen/", "/include/c10/", "/include/c++/", "/torch/include/"}) {
    if (file.find(part) != std::string_view::npos) return true;
  }
  return false;
}

// "(anonymous namespace)::Net::forward(at::Tensor)", and what is defined in it.
bool IsForward(std::string_view function) {
  return function.starts_with("forward(") || function.find("::forward(") != std::string_view::npos;
}

// The innermost line of the program itself, outside of functions that are called forward() if
// `of_forward`; a function alone where there is no line.
NamedSite LineOf(const std::vector<Frame>& frames, const Lines& lines, bool of_forward) {
  NamedSite named;
  for (const Frame& frame : frames) {
    const auto found = lines.find(frame);
    if (found == lines.end()) continue;
    for (const NamedSite& site : found->second) {
      const bool passed_over = IsOfLibrary(site.file) || (of_forward && IsForward(site.function));
      if (site.line > 0 && !passed_over) return site;
      if (named.function.empty()) named.function = site.function;
    }
  }
  return named;
}

}  // namespace

void WriteSourceLines(const std::string& run_folder) {
  const std::set<std::string> sites = RecordedSites(run_folder);
  if (sites.empty()) return;
  std::map<std::string, std::set<std::string>> offsets;  // by file
  for (const std::string& site : sites) {
    for (const auto& [file, offset] : FramesOf(site)) offsets[file].insert(offset);
  }
  Lines lines;
  for (const auto& [file, some] : offsets) {
    LookUp(file, std::vector<std::string>(some.begin(), some.end()), lines);
  }
  std::string text;
  for (const std::string& site : sites) {
    const NamedSite line = LineOf(FramesOf(site), lines, IsOfForward(site));
    text += FormatLine({site, line.file, StrCat(line.line), line.function});
  }
  (void)WriteWholeFile(StrCat(run_folder, "/", kLinesFile), text, 0600);
}

}  // namespace dlcheck
