// What must hold of all that is shown and read; breaking it ends the process.
#pragma once

#include <string>
#include <string_view>

namespace dlcheck::fuzz {

// Ends the process, saying which promise was broken.
void Require(bool holds, std::string_view promise);

// No control character but the newline, and no mark that turns the direction of text.
void RequireVisible(std::string_view text);

// The path of a file in memory with these bytes, the same one for each name.
std::string FileWith(std::string_view bytes, const std::string& name);

}  // namespace dlcheck::fuzz
