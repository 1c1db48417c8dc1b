// What is thrown where this rank is well, but another is gone, does not come or cannot be reached:
// main.cc prints it as one line and exits with kLostStatus.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace dlcheck::reference {

constexpr int kLostStatus = 5;

struct RanksLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Ends the process at once with that status and with `why` as one line on standard error. For a
// thread of its own, as the main one may wait for ever for what does not come.
[[noreturn]] void EndAsLost(int64_t rank, const std::string& why);

}  // namespace dlcheck::reference
