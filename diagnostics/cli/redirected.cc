#include "diagnostics/cli/redirected.h"

#include <set>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "checks/engine/text.h"

namespace dlcheck::cli {
namespace {

constexpr std::string_view kAttribute = "redirected";
constexpr char kBetween[] = ", ";  // paths in it, as the shim writes them
constexpr size_t kPathsShown = 4;

std::set<std::string> PathsOf(const Trace& trace) {
  return absl::StrSplit(std::string(trace.ProcessAttribute(kAttribute)), kBetween,
                        absl::SkipEmpty());
}

}  // namespace

void AddRedirected(const std::vector<std::string>& paths, Trace& trace) {
  if (paths.empty()) return;
  std::set<std::string> all = PathsOf(trace);
  all.insert(paths.begin(), paths.end());
  trace.SetProcessAttribute(kAttribute, absl::StrJoin(all, kBetween));
}

std::string RedirectedFiles(const Evidence& evidence) {
  std::set<std::string> paths;
  for (const auto& [experiment, run] : evidence.runs()) paths.merge(PathsOf(run.trace));
  if (paths.empty()) return "";
  return StrCat("experiments wrote to copies, now removed, of ",
                Listed(std::vector<std::string>(paths.begin(), paths.end()), kPathsShown));
}

}  // namespace dlcheck::cli
