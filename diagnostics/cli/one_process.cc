#include "diagnostics/cli/one_process.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace dlcheck::cli {
namespace {

constexpr std::string_view kOptions[] = {"--nproc-per-node", "--nproc_per_node", "--num_processes",
                                         "--num-processes", "--num_gpus"};

// Where the options of the launcher end: at the program.
size_t ProgramIn(const Words& command) {
  const auto program =
      std::ranges::find_if(command, [](const std::string& word) { return word.ends_with(".py"); });
  return static_cast<size_t>(program - command.begin());
}

}  // namespace

absl::StatusOr<Words> WithOneProcess(const Words& command) {
  Words changed = command;
  const size_t end = ProgramIn(command);
  for (size_t i = 0; i < end; ++i) {
    for (const std::string_view option : kOptions) {
      const std::string with_value = std::string(option) + "=";
      if (changed[i].starts_with(with_value)) {
        changed[i] = with_value + "1";
        return changed;
      }
      if (changed[i] == option && i + 1 < end) {
        changed[i + 1] = "1";
        return changed;
      }
    }
  }
  return absl::FailedPreconditionError(
      "its command has no option that says how many processes are started (as torchrun "
      "--nproc-per-node), before the name of a .py file");
}

}  // namespace dlcheck::cli
