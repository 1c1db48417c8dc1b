// `dlcheck completions SHELL`: made from the options of all commands.
#include <cstdio>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "checks/engine/report.h"
#include "checks/engine/text.h"
#include "diagnostics/cli/command_table.h"

namespace dlcheck::cli {
namespace {

std::string NamesOfCommands() {
  std::vector<std::string> names;
  for (const Command& command : Commands()) names.emplace_back(command.name);
  return absl::StrJoin(names, " ");
}

std::string OptionsOf(const CommandLine& line) {
  std::vector<std::string> names = {"--help"};
  for (const CommandLine::Option& option : line.options()) {
    if (option.is_named()) names.push_back(option.name);
  }
  return absl::StrJoin(names, " ");
}

// Files stand where no option does, and the words behind two dashes are a program's own.
std::string BashScript() {
  std::string options, values;
  for (const Command& command : Commands()) {
    const CommandLine line = LineOf(command);
    StrAppend(&options, "    ", command.name, ") words=\"", OptionsOf(line), "\" ;;\n");
    for (const CommandLine::Option& option : line.options()) {
      const std::vector<std::string>& choices = option.rules.choices;
      if (choices.empty()) continue;
      StrAppend(&values, "    '", command.name, " ", option.name, "') COMPREPLY=($(compgen -W \"",
                absl::StrJoin(choices, " "), "\" -- \"$cur\")); return ;;\n");
    }
  }
  return StrCat(
      "_dlcheck() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
      "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"",
      NamesOfCommands(),
      "\" -- \"$cur\"))\n    return\n  fi\n"
      "  case \"${COMP_WORDS[1]} $prev\" in\n",
      values, "  esac\n  case \"${COMP_WORDS[1]}\" in\n", options,
      "  esac\n"
      "  case \"$cur\" in\n"
      "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
      "    *) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
      "  esac\n"
      "}\n"
      "complete -o filenames -F _dlcheck dlcheck\n");
}

std::string Quoted(const std::string& text) {
  return StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

std::string FishScript() {
  std::string text;
  for (const Command& command : Commands()) {
    StrAppend(&text, "complete -c dlcheck -n __fish_use_subcommand -a ", command.name, " -d ",
              Quoted(command.meaning), "\n");
    const CommandLine line = LineOf(command);
    for (const CommandLine::Option& option : line.options()) {
      if (!option.is_named()) continue;
      StrAppend(&text, "complete -c dlcheck -n '__fish_seen_subcommand_from ", command.name,
                "' -l ", option.name.substr(2), option.value.empty() ? "" : " -r");
      const std::vector<std::string>& choices = option.rules.choices;
      if (!choices.empty()) StrAppend(&text, " -a ", Quoted(absl::StrJoin(choices, " ")));
      StrAppend(&text, " -d ", Quoted(option.meaning), "\n");
    }
  }
  return text;
}

}  // namespace

int CompletionsMain(const Words& words) {
  std::string shell;
  CommandLine line("completions SHELL",
                   "Prints completions of commands and options for a shell to read.");
  line.Value("SHELL", "SHELL", &shell, "bash, zsh or fish",
             {.choices = {"bash", "zsh", "fish"}, .required = true});
  if (const auto code = line.Parse(words)) return *code;
  if (shell == "zsh") std::fputs("autoload -U +X bashcompinit && bashcompinit\n", stdout);
  std::fputs((shell == "fish" ? FishScript() : BashScript()).c_str(), stdout);
  return kExitClean;
}

}  // namespace dlcheck::cli
