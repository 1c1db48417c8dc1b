#include <algorithm>
#include <cmath>
#include <map>

#include "checks/engine/text.h"
#include "diagnostics/render/html/plot.h"
#include "diagnostics/render/html/sections.h"
#include "diagnostics/render/render_losses.h"

namespace dlcheck::html {
namespace {

constexpr size_t kMostEvents = 100;

std::string Words(std::string_view name) {
  std::string words(name);
  std::ranges::replace(words, '_', ' ');
  return words;
}

// The loss of each process in one plot: lines that part show where they differ.
void AddLosses(Node section, const Page& page) {
  Plot plot{.id = "loss-by-process",
            .title = "Loss of each process",
            .caption = "",
            .lines = {},
            .shaded = std::nullopt,
            .level = std::nullopt};
  for (const Series& series : page.series.series) {
    const bool fits = series.quantity == "loss" && series.samples > 0;
    if (fits && plot.lines.size() < kMostLines) {
      plot.lines.push_back({StrCat("rank ", series.rank), &series});
    }
  }
  AddPlot(section, plot);
}

}  // namespace

std::string ExitOf(const Frame& frame) {
  return StrCat("Exit ", frame.exit_code, frame.exit_reason.empty() ? "" : ": ", frame.exit_reason);
}

void AddEvents(Node main, const Page& page) {
  if (page.series.marks.empty()) return;
  Node section = AddSection(main, "events", "Evaluations, files and other events");
  Node table = AddTable(section, "In the order of the run", {"Event", "Step", "Of"});
  size_t shown = 0;
  for (const Mark& mark : page.series.marks) {
    if (shown++ == kMostEvents) break;
    AddRow(table, {Words(mark.event), WithCommas(mark.step), Cut(mark.thing, kLongestName)});
  }
  const int64_t more = static_cast<int64_t>(page.series.marks.size()) -
                       static_cast<int64_t>(kMostEvents) + page.series.marks_left_out;
  if (more > 0) Add(section, "p", StrCat("and ", WithCommas(more), " more"));
}

void AddProcesses(Node main, const Page& page) {
  const std::vector<ProcessSummary>& processes = page.report.coverage.processes;
  if (processes.empty()) return;
  Node section = AddSection(main, "processes", "Processes");
  Node table = AddTable(section, "Each process of the run",
                        {"Rank", "Steps", "Last loss", "Batch", "Seconds of a step", "Ended"});
  for (const ProcessSummary& process : processes) {
    AddRow(table, {StrCat(process.rank), WithCommas(process.steps),
                   std::isnan(process.last_loss) ? "–" : Short(process.last_loss),
                   process.batch > 0 ? Short(process.batch) : "–",
                   process.step_seconds > 0 ? Short(process.step_seconds) : "–", process.ended});
  }
  AddLosses(section, page);
}

void AddNotJudged(Node main, const Page& page) {
  Node section = AddSection(main, "not-judged", "What was not judged");
  if (const std::string losses = RenderLosses(page.report); !losses.empty()) {
    Add(section, "pre", losses);
  }
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const Result& result : page.report.results) {
    if (HasVerdict(result)) continue;
    const std::string reason =
        result.reason.empty() ? Words(OutcomeName(result.outcome)) : std::string(result.reason);
    by_reason[reason].emplace_back(result.check->id);
  }
  if (by_reason.empty()) Add(section, "p", "Every selected check reached a verdict.");
  if (by_reason.empty()) return;
  Node folded = Add(section, "details");
  Add(folded, "summary", "Checks without a verdict, by reason");
  Node table = AddTable(folded, "Checks without a verdict", {"Reason", "Checks"});
  for (const auto& [reason, ids] : by_reason) AddRow(table, {reason, Listed(ids, ids.size())});
}

void AddRun(Node main, const Page& page) {
  Node section = AddSection(main, "run", "The run");
  Node list = Add(section, "dl");
  const auto add = [list](std::string_view term, std::string_view text) {
    if (text.empty()) return;
    Add(list, "dt", term);
    AddName(list, text, "dd");
  };
  std::string command;
  for (const std::string& word : page.frame.command) {
    StrAppend(&command, command.empty() ? "" : " ", word);
  }
  const Coverage& coverage = page.report.coverage;
  add("Command", command);
  add("End", ExitOf(page.frame));
  add("Judged", StrCat(WithCommas(coverage.sampled_steps), coverage.cut ? " of at least " : " of ",
                       Counted(coverage.steps, "step"), ", ", coverage.parameters_with_gradient,
                       " of ", Counted(coverage.parameters, "parameter")));
  for (const auto& [key, value] : page.frame.environment) add(Words(key), value);
  add("Started", page.frame.started);
}

void AddSetAside(Node main, const Page& page) {
  std::vector<std::vector<std::string>> rows;
  for (const Result& result : page.report.results) {
    for (const SetAsideFinding& aside : result.set_aside) {
      const bool accepted = aside.how == SetAsideFinding::How::kAccepted;
      rows.push_back({std::string(result.check->id), aside.finding.message,
                      accepted ? "accepted in the baseline" : aside.reason});
    }
  }
  if (rows.empty()) return;
  Node section = AddSection(main, "set-aside", "Accepted and suppressed");
  Node table = AddTable(section, "Findings that do not count", {"Check", "Finding", "Why"});
  for (const auto& row : rows) AddRow(table, row);
}

void AddPassed(Node main, const Page& page) {
  Node section = AddSection(main, "passed", "Passed checks");
  Node folded = Add(section, "details");
  Add(folded, "summary", Counted(Count(page.report, Outcome::kPassed), "check"));
  Node table = AddTable(folded, "Checks that judged and found nothing", {"Check", "Judged"});
  for (const Result& result : page.report.results) {
    if (result.outcome != Outcome::kPassed) continue;
    AddRow(table, {std::string(result.check->id), result.verdict.judged});
  }
}

}  // namespace dlcheck::html
