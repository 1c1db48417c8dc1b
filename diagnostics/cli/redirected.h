// Which files of the program's an experiment wrote to copies of.
#pragma once

#include <string>
#include <vector>

#include "checks/engine/evidence.h"
#include "checks/engine/trace.h"

namespace dlcheck::cli {

// Adds paths to those that the probe itself redirected.
void AddRedirected(const std::vector<std::string>& paths, Trace& trace);

// One sentence on the files that experiments wrote to copies of; empty if they wrote to none.
std::string RedirectedFiles(const Evidence& evidence);

}  // namespace dlcheck::cli
