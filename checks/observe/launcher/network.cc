#include "checks/observe/launcher/network.h"

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace dlcheck {
namespace {

// Servers that the program itself starts stay in reach of its processes.
bool RaiseLoopback() {
  const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (any < 0) return false;
  ifreq request = {};
  std::strncpy(request.ifr_name, "lo", sizeof(request.ifr_name) - 1);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  const bool is_up = ioctl(any, SIOCSIFFLAGS, &request) == 0;
  close(any);
  return is_up;
}

}  // namespace

bool CutNetwork() { return unshare(CLONE_NEWNET) == 0 && RaiseLoopback(); }

bool CanCutNetwork() {
  const pid_t child = fork();
  if (child == 0) {
    // An ordinary user may where it has a user namespace of its own, as PrivateFiles gives it.
    if (geteuid() != 0 && unshare(CLONE_NEWUSER) != 0) _exit(1);
    _exit(CutNetwork() ? 0 : 1);
  }
  int status = 1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && status == 0;
}

}  // namespace dlcheck
