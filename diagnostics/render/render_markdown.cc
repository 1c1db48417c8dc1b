// A summary in Markdown, as GitHub shows it beside a job. What strangers wrote stands in it as
// text.
#include "absl/strings/str_replace.h"
#include "checks/engine/text.h"
#include "checks/records/visible.h"
#include "diagnostics/render/in_order.h"
#include "diagnostics/render/render.h"

namespace dlcheck {
namespace {

// GitHub shows no summary above 1 MiB. Source: docs.github.com, "Workflow commands for GitHub
// Actions", "Step isolation and limits".
constexpr size_t kMostBytes = 900 << 10;
constexpr size_t kLongestText = 2000;

// No character of it means anything to Markdown or HTML, and it is one line.
std::string Plain(std::string_view text) {
  const std::string shown = Visible(text.substr(0, kLongestText));
  return absl::StrReplaceAll(shown, {{"&", "&amp;"},
                                     {"<", "&lt;"},
                                     {">", "&gt;"},
                                     {"\\", "\\\\"},
                                     {"`", "\\`"},
                                     {"*", "\\*"},
                                     {"_", "\\_"},
                                     {"[", "\\["},
                                     {"]", "\\]"},
                                     {"|", "\\|"},
                                     {"#", "\\#"},
                                     {"~", "\\~"},
                                     {"!", "\\!"},
                                     {"@", "&#64;"},
                                     {"\n", " "}});
}

std::string Entry(const Check& check, const Finding& finding, Language language,
                  const Frame& frame) {
  const Place* place = LineOf(finding);
  const std::string where =
      place == nullptr ? ""
                       : StrCat(" (", Plain(ShownPath(place->file, frame)), ":", place->line, ")");
  return StrCat("- **", SeverityName(finding.severity), ": ", Plain(check.title), "**", where,
                "  \n  ", Plain(finding.message), "  \n  Fix: ", Plain(FixIn(check, language)),
                " (", Plain(check.id), ")\n");
}

}  // namespace

std::string RenderMarkdown(const Report& report, const Frame& frame) {
  size_t left_out = 0;
  std::string entries;
  for (const Result* result : InOrder(report)) {
    for (const Finding& finding : result->verdict.findings) {
      if (entries.size() < kMostBytes) {
        entries += Entry(*result->check, finding, report.language, frame);
      } else {
        ++left_out;
      }
    }
  }
  std::string text = StrCat("## dlcheck: exit ", frame.exit_code, "\n\n");
  text += entries.empty() ? "No findings.\n" : entries;
  if (left_out > 0) StrAppend(&text, "- and ", left_out, " more, which are in result.json\n");
  StrAppend(&text, "\n", Counted(Count(report, Outcome::kPassed), "check"), " passed.");
  if (!frame.loss.empty()) StrAppend(&text, " ", Plain(frame.loss), ".");
  return text + "\n";
}

}  // namespace dlcheck
