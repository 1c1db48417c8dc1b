#include "reference/distributed/health/memory_kills.h"

#include <fstream>
#include <optional>
#include <string>

namespace dlcheck::reference {
namespace {

// The number after "oom_kill" in a file of such pairs.
std::optional<int64_t> KillsIn(const std::string& path) {
  std::ifstream file(path);
  std::string key;
  int64_t count = 0;
  while (file >> key) {
    if (key == "oom_kill" && file >> count) return count;
  }
  return std::nullopt;
}

}  // namespace

int64_t MemoryKills() {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // NUMBER:CONTROLLERS:PATH
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    std::optional<int64_t> kills;
    if (controllers.empty()) kills = KillsIn("/sys/fs/cgroup" + path + "/memory.events");
    if (controllers == "memory")
      kills = KillsIn("/sys/fs/cgroup/memory" + path + "/memory.oom_control");
    if (kills) return *kills;
  }
  return KillsIn("/proc/vmstat").value_or(0);
}

}  // namespace dlcheck::reference
