// A process in which the experiments of a run begin: it goes through the start of the program once,
// to the end of its import of torch, and forks there for each experiment. Of Python programs alone,
// and for the superuser alone: another user may not enter the files of an experiment from outside.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "checks/observe/launcher/launcher.h"
#include "checks/observe/launcher/private_files.h"

namespace dlcheck {

class SharedStart {
 public:
  // For the command of `launch`, with a folder of its own in that run folder, which is removed in
  // the end. `hidden` is what it does not find. Starts nothing yet.
  static std::unique_ptr<SharedStart> Beside(const Launch& launch, std::vector<std::string> hidden);

  SharedStart(const SharedStart&) = delete;
  SharedStart& operator=(const SharedStart&) = delete;
  // Ends the process, but none that it forked.
  ~SharedStart();

  // A new process that goes on as that of `launch`, a child of this one; 0 where there is none to
  // be had, as from a program that has written a file or started a thread by then. The folder of
  // `launch` is written. Cost: the start of the program, the first time; else some milliseconds.
  pid_t Begin(const Launch& launch);

 private:
  SharedStart(Launch launch, PrivateFiles files);
  bool IsReady(absl::Duration most);
  void End();

  Launch launch_;
  PrivateFiles files_;
  pid_t process_ = 0;
  int channel_ = -1;
  bool is_tried_ = false, is_ready_ = false;
};

}  // namespace dlcheck
