#include "checks/observe/launcher/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "checks/engine/text.h"
#include "checks/engine/trace_reader.h"
#include "checks/observe/preload/entries.h"
#include "checks/observe/probe/trackers.h"
#include "checks/records/request.h"

namespace dlcheck {
namespace {

// True for a variable of ours in this run, whatever the user's environment says.
bool IsReplaced(std::string_view entry, const Launch& launch) {
  const std::string_view name = entry.substr(0, entry.find('=') + 1);
  if (entry.starts_with(StrCat(kRequestVariable, "="))) return true;
  if (std::string_view(kPrivateFilesVariable).starts_with(name)) return true;
  if (!launch.gate.empty() && (name == "LD_PRELOAD=" || name == StrCat(kWorkersVariable, "="))) {
    return true;
  }
  return launch.own_group && std::ranges::any_of(kTrackersOff, [name](std::string_view off) {
           return off.starts_with(name);
         });
}

}  // namespace

std::vector<std::string> EnvironmentOf(const Launch& launch) {
  std::vector<std::string> environment;
  std::string python_path = launch.request.run_folder + "/boot";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("PYTHONPATH=") && !launch.python_folder.empty()) {
      const std::string_view before = text.substr(strlen("PYTHONPATH="));
      if (!before.empty()) StrAppend(&python_path, ":", before);
      continue;
    }
    if (!IsReplaced(text, launch)) environment.emplace_back(text);
  }
  if (!launch.python_folder.empty()) environment.push_back("PYTHONPATH=" + python_path);
  environment.push_back(
      StrCat(kRequestVariable, "=", launch.request.run_folder, "/", kRequestFile));
  if (!launch.gate.empty()) {
    const char* before = std::getenv("LD_PRELOAD");
    const bool is_set = before != nullptr && *before != 0;
    environment.push_back(
        StrCat("LD_PRELOAD=", launch.gate, is_set ? ":" : "", is_set ? before : ""));
    environment.push_back(StrCat(kWorkersVariable, "=", launch.workers));
  }
  if (launch.own_group) {
    environment.insert(environment.end(), kTrackersOff.begin(), kTrackersOff.end());
    environment.emplace_back(kPrivateFilesVariable);
  }
  return environment;
}

}  // namespace dlcheck
