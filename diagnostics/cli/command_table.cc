#include "diagnostics/cli/command_table.h"

namespace dlcheck::cli {
namespace {

constexpr Command kCommands[] = {
    {"run", RunMain, "run a training program, watch it, and judge what was seen"},
    {"check", CheckMain, "train a model with the reference trainer under every experiment"},
    {"judge", JudgeMain, "judge an earlier run, or the log of another tool"},
    {"reference", ReferenceMain,
     "compare a program's training with baseline models on its batches"},
    {"compare", CompareMain, "name the first difference of two runs, and its cause"},
    {"verify", VerifyMain, "say whether an earlier run's records are as they were written"},
    {"report", ReportMain, "render an earlier run's result again"},
    {"suggest", SuggestMain, "print a change of the program that would mend a finding"},
    {"accept", AcceptMain, "print a run's findings as a baseline, which later runs accept"},
    {"list", ListMain, "list all checks"},
    {"explain", ExplainMain, "print one check's page, or all with --all"},
    {"selftest", SelftestMain, "run every check's own examples"},
    {"init", InitMain, "write a commented dlcheck.toml for the project at hand"},
    {"probe", ProbeMain, "build the probe for the LibTorch of a C++ program"},
    {"doctor", DoctorMain, "say whether dlcheck works on this machine"},
    {"completions", CompletionsMain, "print completions for bash, zsh or fish"},
    {"manual", ManualMain, "print the manual page"},
    {"version", VersionMain, "print versions"},
};

}  // namespace

std::span<const Command> Commands() { return kCommands; }

CommandLine LineOf(const Command& command) {
  CommandLine::Collector collector;
  command.main({});
  return collector.line();
}

}  // namespace dlcheck::cli
