// The subcommands of `dlcheck`, one file each. Each takes the words after its name and returns the
// exit code; what goes wrong is one line on standard error.
#pragma once

#include <string>
#include <vector>

namespace dlcheck::cli {

using Words = std::vector<std::string>;

int AcceptMain(const Words& words);
int RunMain(const Words& words);
int CheckMain(const Words& words);
int JudgeMain(const Words& words);
int CompareMain(const Words& words);
int VerifyMain(const Words& words);
int ReferenceMain(const Words& words);
int ReportMain(const Words& words);
int SuggestMain(const Words& words);
int ListMain(const Words& words);
int ExplainMain(const Words& words);
int SelftestMain(const Words& words);
int InitMain(const Words& words);
int DoctorMain(const Words& words);
int ProbeMain(const Words& words);
int CompletionsMain(const Words& words);
int ManualMain(const Words& words);
int VersionMain(const Words& words);

}  // namespace dlcheck::cli
