// From the two files of one process to its part of a Trace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "checks/engine/trace.h"
#include "checks/records/expected.h"
#include "checks/records/record_reader.h"

namespace dlcheck {

// The files of one process, as far as they are whole.
struct ProcessFiles {
  std::string stem;       // path without its ending
  std::string role = "";  // as the writer gave it: "main", "worker", ...
  uint16_t rank = 0;      // of the first record
  uint64_t records = 0;
  Extent extent = {};
  std::string damage = "";  // why nothing behind `extent` is read; empty where nothing is there
};

// Reads the record file once, front to back. Errors: of RecordReader::Open.
Expected<ProcessFiles> Examine(const std::string& stem);

// Source lines by the address that was recorded.
using SourceLines = std::map<std::string, NamedSite>;

// Adds what `files` say is whole to the trace. Gives what is damaged or missing to `run.losses`.
// `word` is the run's own; files of another run are left out. Cost: one pass over both files.
void Join(const ProcessFiles& files, const std::string& word, const SourceLines& lines, Run& run);

}  // namespace dlcheck
