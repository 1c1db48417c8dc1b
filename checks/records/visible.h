// Text that strangers chose (names of modules and files, messages of exceptions) on its way to a
// terminal or a log. Every sink of plain text uses it; JSON and XML have escapes of their own.
#pragma once

#include <string>
#include <string_view>

namespace dlcheck {

// One line of `text` in which nothing acts on a terminal, hides, or changes the order of
// characters. Control characters, C1 controls, bidirectional marks, line and paragraph separators,
// zero-width characters and bytes that are no UTF-8 become "\n", "\t", "\x1b" or "\u202e". The
// first colon of a word that begins with "::" and the bracket of "##[" become "\x3a" and "\x5b":
// continuous integration reads commands there. Cost: one pass.
std::string Visible(std::string_view text);

}  // namespace dlcheck
