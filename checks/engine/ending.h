// How a run ended.
#pragma once

#include <cstdint>
#include <string>

namespace dlcheck {

struct Ending {
  enum class How : uint8_t {
    kFinished,   // exited 0
    kFailed,     // exited with another status
    kKilled,     // by a signal; status is its number
    kDeadline,   // we ended it when its time was up
    kStopped,    // it had all the steps it was asked for, or `stopped_by` ended it
    kTruncated,  // its records end without an ending: we do not know
  };
  How how = How::kTruncated;
  int status = 0;
  // "SIGTERM" or "SIGINT", passed on by us, or the id of the check whose live finding ended the
  // program; empty: none of these.
  std::string stopped_by = "";
};

}  // namespace dlcheck
