#include <array>

#include "absl/strings/str_replace.h"
#include "checks/engine/text.h"
#include "diagnostics/fingerprint.h"
#include "diagnostics/render/in_order.h"
#include "diagnostics/render/render.h"

namespace dlcheck {
namespace {

// Of each kind a step may show so many; GitHub drops the rest without a word.
// Source: github.com/actions/toolkit, docs/problem-matchers.md, "Limitations".
constexpr size_t kMostOfAKind = 10;

std::string Data(std::string_view text) {
  return absl::StrReplaceAll(absl::string_view(text.data(), text.size()),
                             {{"%", "%25"}, {"\r", "%0D"}, {"\n", "%0A"}});
}

std::string Property(std::string_view text) {
  return absl::StrReplaceAll(Data(text), {{":", "%3A"}, {",", "%2C"}});
}

std::string_view Level(Severity severity) {
  if (severity == Severity::kError) return "error";
  return severity == Severity::kWarning ? "warning" : "notice";
}

std::string Annotation(const Check& check, const Finding& finding, Language language) {
  std::string line = StrCat("::", Level(finding.severity), " ");
  if (const Place* place = LineOf(finding)) {
    StrAppend(&line, "file=", Property(place->file), ",line=", place->line, ",");
  }
  StrAppend(&line, "title=", Property(StrCat(check.title, " (dlcheck ", check.id, ")")), "::");
  return StrCat(line, Data(StrCat(finding.message, "\nFix: ", FixIn(check, language))), "\n");
}

}  // namespace

std::string RenderGithub(const Report& report) {
  std::array<size_t, 3> shown{};
  size_t left_out = 0;
  std::string text;
  for (const Result* result : InOrder(report)) {
    for (const Finding& finding : result->verdict.findings) {
      if (shown[static_cast<size_t>(finding.severity)]++ < kMostOfAKind) {
        text += Annotation(*result->check, finding, report.language);
      } else {
        ++left_out;
      }
    }
  }
  if (left_out > 0) {
    StrAppend(&text, "dlcheck  ", left_out, " more findings are not annotated: GitHub shows ",
              kMostOfAKind, " of a kind\n");
  }
  return text;
}

}  // namespace dlcheck
