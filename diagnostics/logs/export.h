// The numbers of a run in the formats of other tools: the way back from the readers of logs.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "diagnostics/logs/log.h"

namespace dlcheck {

// The numbers that reports draw, at every recorded step: "loss/cross_entropy",
// "gradient_norm/head.weight", a metric under its own name. Those of process 1 begin with "rank1/".
Log LogOf(const Run& run);

// A line for each step, a column for each name; empty cells where a step has no number.
std::string CsvOf(const Log& log);

// An event file of TensorBoard. `now`: seconds since 1970, of all numbers, since records have no
// time of day. Numbers become float32, as those of add_scalar() do.
std::string EventFileOf(const Log& log, double now);

// Writes an experiment of one run into `folder`, a tracking folder of MLflow (the file store).
// `run_id`: 32 hexadecimal digits. Errors: Unavailable.
absl::Status WriteMlflow(const Log& log, double now, const std::string& run_id,
                         const std::string& folder);

}  // namespace dlcheck
