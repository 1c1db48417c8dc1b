// Where text goes that a person reads: as wide as the terminal, and in color where it shows colors.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

#include "diagnostics/cli/command_line.h"

namespace dlcheck::cli {

// Adds --color WHEN; `when` gets auto, always or never.
void AddColorOption(CommandLine& line, std::string& when);

// Prints what `render` gives. With auto, colors stand on a terminal alone, and neither with
// NO_COLOR (https://no-color.org) nor on one that is `dumb`.
void Print(FILE* to, const std::function<std::string()>& render, const std::string& when);

}  // namespace dlcheck::cli
