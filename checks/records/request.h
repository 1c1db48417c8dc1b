// What the supervisor asks of a subject: which experiment to be, and where to write. A probe finds
// it by the environment variable DLCHECK_REQUEST (C++) or beside the boot code (Python). Unknown
// keys are kept out of the way, so that an old probe can read a newer request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "checks/records/expected.h"

namespace dlcheck {

inline constexpr char kRequestVariable[] = "DLCHECK_REQUEST";

struct Request {
  std::string run_folder;            // records are written below it
  std::string experiment = "plain";  // a word of checks/engine/experiment.cc
  int repetition = 0;
  std::optional<int64_t> steps;          // end after so many optimizer steps; none: never cut short
  std::optional<int64_t> seed;           // of the subject, where it takes one
  std::optional<double> reference_rate;  // replace the optimizer by Adam with this learning rate
  std::optional<int64_t> at_step;        // where a resumed run is interrupted first
  // Of an interrupted run: the step after which the plain run saved its state, from which on all is
  // recorded. Of it and of the one resumed from it: where it ends, instead of `steps`.
  std::optional<int64_t> saved_step, end_step;
  std::optional<int64_t> whole_first,
      whole_last;                  // steps recorded in full, beside the sampled ones
  std::optional<int64_t> samples;  // rows of some batches that are kept for the report
  std::optional<int64_t> capture;  // steps whose batches are kept whole
  std::string other_folder;  // of one process: the run folder of the processes it is compared with
  bool keep_batch = false;   // of a replay: save what its step works on as batch.pt
  int64_t size_cap_bytes = int64_t{256} << 20;  // of the record file of one process
  std::string run;  // a word that no other run has; what is recorded says it, too

  bool operator==(const Request& other) const;
};

std::string FormatRequest(const Request& request);

// A request that names its run has a check at its end. Errors: NotFound, Unavailable; Damaged where
// the check is wrong; Invalid with the key whose value cannot be read.
Expected<Request> ReadRequest(const std::string& path);

// The request of this process, if it was started by `dlcheck run`. One that cannot be read is none,
// and the folder that it lies in, which is the run's, is told why.
std::optional<Request> RequestFromEnvironment();

}  // namespace dlcheck
