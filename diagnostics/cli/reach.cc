#include "diagnostics/cli/reach.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "checks/observe/launcher/private_files.h"

namespace dlcheck::cli {

bool CanHavePrivateFiles() {
  const PrivateFiles files = PrivateFiles::Plan();
  const pid_t child = fork();
  if (child == 0) _exit(files.Enter("/") ? 0 : 1);
  int status = 1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  files.Clear(0);
  return child > 0 && status == 0;
}

}  // namespace dlcheck::cli
