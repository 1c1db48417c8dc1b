// SIGINT and SIGTERM as a flag: the loop looks at it between two micro-batches, writes a
// checkpoint and ends. A second signal ends the process at once, as if nobody had asked.
#pragma once

namespace dlcheck::reference {

class StopSignal {
 public:
  // Takes the two signals over for as long as it lives. One at a time.
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // The number of the signal that came; 0 if none did.
  static int Came();
};

}  // namespace dlcheck::reference
