// What is thrown when the user can mend the reason: main.cc prints it as one line and exits with 2.
// Any other exception is a run that failed, and exits with 1.
#pragma once

#include <stdexcept>
#include <string>

namespace dlcheck::reference {

// Flags or settings that make no sense.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A file that is not what it should be.
struct InputRejected : std::runtime_error {
  InputRejected(const std::string& rejected_file, const std::string& why)
      : std::runtime_error("'" + rejected_file + "': " + why), file(rejected_file), cause(why) {}
  std::string file;
  std::string cause;  // without the file's name
};

}  // namespace dlcheck::reference
