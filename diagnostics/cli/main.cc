// The `dlcheck` command: picks the subcommand and stops every exception at the last border.
#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include "checks/engine/report.h"
#include "checks/observe/launcher/signal_guard.h"
#include "checks/records/nearest.h"
#include "checks/records/visible.h"
#include "diagnostics/cli/command_table.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/log_reader.h"

namespace dlcheck::cli {
namespace {

void PrintHelp(FILE* to) {
  std::fputs(
      "dlcheck finds the silent faults of deep-learning training code.\n\n"
      "  dlcheck run -- python train.py --its --own --flags\n"
      "  dlcheck check --model ./libmynet.so --data digits.h5\n\nCommands:\n",
      to);
  for (const Command& command : Commands()) {
    std::fprintf(to, "  %-11s %s\n", command.name, command.meaning);
  }
  std::fputs(
      "\n`dlcheck COMMAND --help` lists a command's options.\n"
      "Exit codes: 0 clean, 1 findings, 2 usage or rejected input, 3 internal error,\n"
      "4 a required check reached no verdict, 5 nothing was judged or records are missing,\n"
      "124 the program was ended at its deadline, 130 interrupted.\n",
      to);
}

int Main(const Words& words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    PrintHelp(words.empty() ? stderr : stdout);
    return words.empty() ? kExitUsage : kExitClean;
  }
  const Words rest(words.begin() + 1, words.end());
  if (words[0] == kReadLogCommand) return ReadLogMain(rest);
  std::vector<std::string> names;
  for (const Command& command : Commands()) {
    if (words[0] == command.name) return command.main(rest);
    names.emplace_back(command.name);
  }
  if (words[0] == "--version") return VersionMain(rest);
  std::fprintf(stderr, "dlcheck: there is no command '%s'%s\n", Visible(words[0]).c_str(),
               DidYouMean(words[0], names).c_str());
  return kExitUsage;
}

// A reader that went away, or a limit of file sizes, is an error of a write, not the end of us.
void SurviveWrites() {
  RememberSignals();  // the command gets them as they were
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);  // where it is ignored, nobody can wait for a child
}

// Output that was lost is no success, unless its reader wanted no more of it.
int Flushed(int code) {
  const bool is_lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!is_lost || errno == EPIPE) return code;
  std::fprintf(stderr, "dlcheck: cannot write standard output: %s\n", std::strerror(errno));
  return kExitUsage;
}

}  // namespace
}  // namespace dlcheck::cli

int main(int argc, char** argv) {
  try {
    dlcheck::cli::SurviveWrites();
    return dlcheck::cli::Flushed(dlcheck::cli::Main({argv + 1, argv + argc}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dlcheck: internal error: %s\n", dlcheck::Visible(error.what()).c_str());
    return dlcheck::kExitInternal;
  }
}
