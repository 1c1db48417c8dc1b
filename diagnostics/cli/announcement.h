// What `--deep` is going to do, said before it is done: a program started many times repeats
// whatever it does to the outside.
#pragma once

#include <span>
#include <string>

#include "checks/engine/check.h"

namespace dlcheck::cli {

// One line: how many more times the program may be started, and what it can reach then. Tries in
// children which of it this system allows. Cost: some ten milliseconds.
std::string AnnouncementOf(std::span<const Check* const> checks, bool keeps_network);

// The same for `--dry-run`: a line for every start, with the checks it is for.
std::string DryRun(std::span<const Check* const> checks, bool deep, bool keeps_network);

}  // namespace dlcheck::cli
