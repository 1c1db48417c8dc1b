// Why a command that left no records could not be observed, where its own words or the probe say
// so.
#pragma once

#include <string>
#include <vector>

namespace dlcheck::cli {

// One line for a Python whose probe failed as PyTorch was imported, which says so in a file of its
// run folder, or that is told to pass over what we put in its way (-I, -E, -S); for a program in a
// file of machine code that is not linked with LibTorch, or with one that has no probe yet; empty
// for every other.
std::string WhyUnobserved(const std::vector<std::string>& command,
                          const std::vector<std::string>& run_folders);

}  // namespace dlcheck::cli
