// All subcommands, in the order of the help.
#pragma once

#include <span>
#include <vector>

#include "diagnostics/cli/command_line.h"
#include "diagnostics/cli/commands.h"

namespace dlcheck::cli {

struct Command {
  const char* name;
  int (*main)(const Words&);
  const char* meaning;
};

std::span<const Command> Commands();

// The options of a command. Runs nothing of it.
CommandLine LineOf(const Command& command);

}  // namespace dlcheck::cli
