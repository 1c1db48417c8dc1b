#include "checks/observe/launcher/descendants.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace dlcheck {
namespace {

pid_t kept_child = 0;

constexpr int kMostRounds = 1000;  // a program that starts processes faster than these is given up

// The parent of a process, by its line in /proc; 0 if it is gone.
pid_t ParentOf(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string line;
  std::getline(file, line);
  // The name in parentheses may hold anything.
  const size_t name = line.rfind(") ");
  if (name == std::string::npos || name + 4 >= line.size()) return 0;
  return static_cast<pid_t>(std::strtol(line.c_str() + name + 4, nullptr, 10));
}

std::vector<pid_t> Children() {
  std::vector<pid_t> children;
  const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir("/proc"), closedir);
  while (const dirent* entry = all ? readdir(all.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const pid_t process = std::atoi(name.c_str());
    if (process != kept_child && ParentOf(name) == getpid()) children.push_back(process);
  }
  return children;
}

}  // namespace

void AdoptDescendants(bool adopts) { prctl(PR_SET_CHILD_SUBREAPER, adopts ? 1 : 0); }

void KeepDescendant(pid_t child) { kept_child = child; }

// The children of one that ends become ours, and are found in the next round.
void EndDescendants() {
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<pid_t> children = Children();
    if (children.empty()) return;
    for (const pid_t child : children) kill(child, SIGKILL);
    for (const pid_t child : children) {
      while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }
}

}  // namespace dlcheck
