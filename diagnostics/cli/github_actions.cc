#include "diagnostics/cli/github_actions.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace dlcheck::cli {
namespace {

bool AddSummary(const Report& report, const Frame& frame) {
  const char* file = std::getenv("GITHUB_STEP_SUMMARY");
  if (file == nullptr || *file == '\0') return false;
  std::ofstream out(file, std::ios::app);
  out << RenderMarkdown(report, frame);
  out.close();
  if (!out) std::fprintf(stderr, "dlcheck: cannot write the summary to '%s'\n", file);
  return static_cast<bool>(out);
}

}  // namespace

void ReportToGithubActions(const Report& report, const Frame& frame, bool annotated) {
  const char* on = std::getenv("GITHUB_ACTIONS");
  if (on == nullptr || std::string_view(on) != "true") return;
  if (!annotated) std::fputs(RenderGithub(report).c_str(), stderr);
  const bool summed_up = AddSummary(report, frame);
  std::fprintf(stderr, "dlcheck  GITHUB_ACTIONS is set: findings are annotated%s\n",
               summed_up ? ", and added to the summary of the job" : "");
}

}  // namespace dlcheck::cli
