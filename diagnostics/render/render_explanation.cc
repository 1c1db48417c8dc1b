#include <algorithm>
#include <utility>
#include <vector>

#include "checks/engine/false_alarms.h"
#include "checks/engine/text.h"
#include "diagnostics/render/layout.h"
#include "diagnostics/render/render.h"

namespace dlcheck {
namespace {

constexpr size_t kLabelColumns = 13;

std::string Entry(std::string_view label, std::string_view text) {
  std::string line(label);
  line.resize(kLabelColumns, ' ');
  return line + Wrap(text, kLabelColumns) + "\n";
}

std::string Joined(const std::vector<std::string_view>& parts, std::string_view between) {
  std::string text;
  for (const std::string_view part : parts) StrAppend(&text, text.empty() ? "" : between, part);
  return text;
}

std::string SettingLine(const Setting& setting) {
  return StrCat(setting.name, " = ", Short(setting.value), " ", setting.unit, " [",
                Short(setting.low), ", ", Short(setting.high), "]: ", setting.meaning, ". ",
                setting.source, ".");
}

// The experiments that the check needs, for people.
std::string Runs(const Check& check) {
  std::vector<std::string> experiments;
  for (const Need& need : check.judgement.needs) {
    if (need.experiment == kPlain) continue;
    experiments.push_back(StrCat(Describe(need.experiment), need.optional ? " (if it fails)" : ""));
  }
  return experiments.empty() ? "the plain run" : StrCat("--deep: ", Listed(experiments, 9));
}

// (label, text) of every part of the limits that there is.
std::vector<std::pair<std::string_view, std::string_view>> PartsOf(const Limits& limits) {
  std::vector<std::pair<std::string_view, std::string_view>> parts = {
      {"Needs", limits.needs},
      {"Silent when", limits.silent_when},
      {"Severity", limits.severity},
      {"Blind spots", limits.blind_spots},
      {"Sensitivity", limits.sensitivity}};
  std::erase_if(parts, [](const auto& part) { return part.second.empty(); });
  return parts;
}

// What was measured on healthy programs; empty if nothing was.
std::string FalseAlarmsOf(const Check& check) {
  const FalseAlarms* measured = FindFalseAlarms(check.id);
  if (measured == nullptr) return "";
  return StrCat("Measured: findings in ", WithCommas(measured->alarmed_runs), " of ",
                WithCommas(measured->runs), " runs of healthy programs with ",
                WithCommas(measured->steps), " steps. At 95 % confidence, at most ",
                Short(measured->bound), " in 10,000 steps.");
}

// (title, lines, language) of every snippet that there is.
struct Shown {
  std::string_view title, lines, language;
};

std::vector<Shown> SnippetsOf(const Check& check) {
  std::vector<Shown> shown = {{"Bad", check.python.bad, "python"},
                              {"Good", check.python.good, "python"},
                              {"Bad, C++", check.cpp.bad, "cpp"},
                              {"Good, C++", check.cpp.good, "cpp"}};
  std::erase_if(shown, [](const Shown& snippet) { return snippet.lines.empty(); });
  return shown;
}

// Code as it is, each line behind the column of the texts.
std::string CodeEntry(std::string_view label, std::string_view code) {
  std::string text = StrCat(label, "\n");
  while (!code.empty()) {
    const size_t end = std::min(code.find('\n'), code.size());
    StrAppend(&text, std::string(kLabelColumns, ' '), code.substr(0, end), "\n");
    code.remove_prefix(std::min(end + 1, code.size()));
  }
  return text;
}

std::string_view ExampleLabel(const Example& example) {
  switch (example.expect) {
    case Expect::kClean:
      return "clean";
    case Expect::kNote:
      return "note";
    case Expect::kWarning:
      return "warning";
    case Expect::kError:
      return "error";
  }
  return "";
}

}  // namespace

std::string RenderExplanation(const Check& check, Language language) {
  std::string text = Spread(check.id, StrCat(SeverityName(check.worst), " at worst")) + "\n";
  text += Entry("Fault", check.title) + Entry("Promise", check.promise) + Entry("Why", check.why) +
          Entry("Method", check.method) + Entry("Fix", FixIn(check, language));
  std::vector<Shown> snippets = SnippetsOf(check);
  // Who reads C++ sees the Python lines only where there are no others.
  if (language == Language::kCpp && !check.cpp.bad.empty()) {
    std::erase_if(snippets, [](const Shown& shown) { return shown.language == "python"; });
  }
  for (const Shown& shown : snippets) text += CodeEntry(shown.title, shown.lines);
  for (const auto& [label, limit] : PartsOf(check.limits)) text += Entry(label, limit);
  if (const std::string measured = FalseAlarmsOf(check); !measured.empty()) {
    text += Entry("False alarms", measured);
  }
  text += Entry("Runs", Runs(check));
  for (const Setting& setting : check.settings) text += Entry("Setting", SettingLine(setting));
  for (const Example& example : check.examples) {
    text += Entry("Example", StrCat(ExampleLabel(example), ": ", example.title));
  }
  if (!check.explains.empty()) text += Entry("Explains", Joined(check.explains, ", "));
  text += Entry("Covers", StrCat(Joined(check.covers, ", "), " (docs/faults.md)"));
  return text + Entry("Sources", Joined(check.sources, "; "));
}

std::string RenderCatalog(std::span<const Check> checks) {
  std::string text =
      "# Checks\n\nMade by `dlcheck explain --all`; do not edit. A check's id is the fault it "
      "finds.\n";
  for (const Check& check : checks) {
    StrAppend(&text, "\n## ", check.id, "\n\n**", check.title, ".** ", check.promise, "\n\n");
    StrAppend(&text, "- **Severity:** ", SeverityName(check.worst), " at worst\n");
    StrAppend(&text, "- **Why:** ", check.why, "\n- **Method:** ", check.method, "\n- **Fix:** ",
              check.fix, "\n");
    for (const auto& [label, limit] : PartsOf(check.limits)) {
      StrAppend(&text, "- **", label, ":** ", limit, "\n");
    }
    if (const std::string measured = FalseAlarmsOf(check); !measured.empty()) {
      StrAppend(&text, "- **False alarms:** ", measured, "\n");
    }
    StrAppend(&text, "- **Runs:** ", Runs(check), "\n");
    for (const Setting& setting : check.settings) {
      StrAppend(&text, "- **Setting:** ", SettingLine(setting), "\n");
    }
    for (const Example& example : check.examples) {
      StrAppend(&text, "- **Example, ", ExampleLabel(example), ":** ", example.title, "\n");
    }
    StrAppend(&text, "- **Sources:** ", Joined(check.sources, "; "), "\n");
    for (const auto& [label, lines, language] : SnippetsOf(check)) {
      StrAppend(&text, "\n", label, ":\n\n```", language, "\n", lines, "\n```\n");
    }
  }
  return text;
}

}  // namespace dlcheck
