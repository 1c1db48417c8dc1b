// Why a command that left no records could not be observed, where its own words say so.
#pragma once

#include <string>
#include <vector>

namespace dlcheck::cli {

// One line for a Python that is told to pass over what we put in its way (-I, -E, -S); empty for
// every other command.
std::string WhyUnobserved(const std::vector<std::string>& command);

}  // namespace dlcheck::cli
