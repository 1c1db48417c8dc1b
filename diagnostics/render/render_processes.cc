#include "diagnostics/render/render_processes.h"

#include <algorithm>
#include <span>

#include "checks/engine/text.h"

namespace dlcheck {
namespace {

constexpr size_t kProcessesShown = 16;

std::string Time(double seconds) {
  return seconds == 0 ? "-" : StrCat(Short(1000 * seconds), " ms");
}

std::string Columns(size_t indent, const std::vector<std::string>& words) {
  constexpr size_t kWidths[] = {6, 8, 11, 7, 11, 11, 0};
  std::string line(indent, ' ');
  for (size_t i = 0; i < words.size(); ++i) {
    line += words[i];
    if (i + 1 < words.size())
      line.resize(std::max(line.size() + 1, line.size() - words[i].size() + kWidths[i]), ' ');
  }
  return line + "\n";
}

}  // namespace

std::string RenderProcesses(const std::vector<ProcessSummary>& processes, size_t indent) {
  if (processes.empty()) return "";
  std::string text =
      Columns(indent, {"rank", "steps", "last loss", "batch", "step", "own part", "ended"});
  const size_t shown = std::min(processes.size(), kProcessesShown);
  for (const ProcessSummary& process : std::span(processes).first(shown)) {
    text += Columns(indent,
                    {StrCat(process.rank), WithCommas(process.steps), Short(process.last_loss),
                     StrCat(process.batch), Time(process.step_seconds), Time(process.own_seconds),
                     process.ended.empty() ? "not known" : process.ended});
  }
  if (processes.size() > shown)
    text += Columns(indent, {StrCat("and ", processes.size() - shown, " more")});
  return text;
}

}  // namespace dlcheck
