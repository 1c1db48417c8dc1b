// Starts the command of a run under a request, waits for it, and says how it ended. The plain run
// inherits terminal, streams and process group, so that Ctrl-C, SIGTERM and debuggers work as
// without us; every other experiment runs in a group of its own, with standard input closed and its
// output kept, and nothing of it is left behind.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "checks/engine/trace.h"
#include "checks/observe/launcher/private_files.h"
#include "checks/records/request.h"

namespace dlcheck {

// What a look at a running command came to.
struct Look {
  absl::Duration next;          // when to look again, from now
  std::string stopped_by = "";  // not empty: end the command now, and this is why
};

class SharedStart;

struct Launch {
  std::vector<std::string> command;
  Request request;  // its run_folder exists and is absolute
  std::string
      python_folder;  // holds boot/sitecustomize.py and dlcheck_shim; empty: Python is not watched
  // Preloaded into C++ programs, and the folders that hold what it loads; empty: they are not
  // watched but for the lines they have.
  std::string gate, workers;
  bool own_group = false;      // an experiment, not the plain run
  bool keeps_network = false;  // else an experiment has none but loopback, if that can be had
  const PrivateFiles* files = nullptr;  // what an experiment writes to; null: the real files
  bool needs_own_files = false;         // it is not started where `files` are not all private
  int channel = -1;                     // a descriptor that the command inherits, and is told of
  SharedStart* shared_start = nullptr;  // where the command may begin; null: nowhere else
  absl::Duration deadline = absl::InfiniteDuration();
  // Called by the waiting thread while the command runs, the first time at once; may be empty.
  std::function<Look()> look = nullptr;
};

struct Ended {
  Ending ending;
  absl::Status written;  // whether the run folder says so, too; on a full disk it cannot
};

// Writes the request and the boot folder, runs the command to its end and writes the ending. A
// command that a signal to us or a look ended did not fail by itself: it counts as stopped.
// Errors: InvalidArgument if the command cannot be started; FailedPrecondition if it needs files of
// its own and the system gives none; Unavailable if the folder cannot be
// written.
absl::StatusOr<Ended> RunCommand(const Launch& launch);

// True once SIGINT, SIGTERM or SIGHUP reached this process while a command ran.
bool WasInterrupted();

}  // namespace dlcheck
