#include "reference/distributed/health/ranks_lost.h"

#include <unistd.h>

#include <cstdio>

namespace dlcheck::reference {

void EndAsLost(int64_t rank, const std::string& why) {
  const std::string line = "dlcheck-train: rank " + std::to_string(rank) + ": " + why + "\n";
  (void)!write(STDERR_FILENO, line.data(), line.size());
  // The main thread may be stuck while it prints.
  if (ftrylockfile(stdout) == 0) std::fflush(stdout);
  _exit(kLostStatus);
}

}  // namespace dlcheck::reference
