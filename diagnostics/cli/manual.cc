// `dlcheck manual`: the manual page, made from the options of all commands.
#include <cstdio>

#include "absl/strings/str_replace.h"
#include "checks/engine/report.h"
#include "checks/engine/text.h"
#include "checks/records/version.h"
#include "diagnostics/cli/command_table.h"

namespace dlcheck::cli {
namespace {

// Text that troff takes for text.
std::string Roff(const std::string& text) {
  const std::string escaped = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}});
  return escaped.starts_with(".") || escaped.starts_with("'") ? "\\&" + escaped : escaped;
}

std::string PageOf(const Command& command) {
  const CommandLine line = LineOf(command);
  std::string text =
      StrCat(".SS dlcheck ", Roff(line.usage()), "\n", Roff(line.description()), "\n");
  for (const CommandLine::Option& option : line.options()) {
    const bool shows_value = option.is_named() && !option.value.empty();
    StrAppend(&text, ".TP\n.B ", Roff(option.name),
              shows_value ? StrCat(" \\fI", Roff(option.value), "\\fR") : "", "\n",
              Roff(option.meaning), "\n");
  }
  return text;
}

}  // namespace

int ManualMain(const Words& words) {
  CommandLine line("manual", "Prints the manual page: `dlcheck manual | man -l -`.");
  if (const auto code = line.Parse(words)) return *code;
  std::string text =
      StrCat(".TH DLCHECK 1 \"\" \"dlcheck ", kVersion,
             "\"\n.SH NAME\ndlcheck \\- finds the silent faults of deep\\-learning training code\n"
             ".SH SYNOPSIS\n.B dlcheck run \\-\\- python train.py\n.SH COMMANDS\n");
  for (const Command& command : Commands()) text += PageOf(command);
  text +=
      ".SH EXIT STATUS\n0 clean, 1 findings, 2 usage or rejected input, 3 internal error, 4 a "
      "required "
      "check reached no verdict, 5 nothing was judged or records are missing, 124 the program was "
      "ended at its deadline, 130 interrupted.\n";
  std::fputs(text.c_str(), stdout);
  return kExitClean;
}

}  // namespace dlcheck::cli
