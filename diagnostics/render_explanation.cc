#include "checks/engine/text.h"
#include "diagnostics/layout.h"
#include "diagnostics/render.h"

namespace dlcheck {
namespace {

constexpr size_t kLabelColumns = 10;

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
std::string Needs(const Check& check) {
  std::vector<std::string> experiments;
  for (const Need& need : check.judgement.needs) {
    if (need.experiment == kPlain) continue;
    experiments.push_back(StrCat(Describe(need.experiment), need.optional ? " (if it fails)" : ""));
  }
  return experiments.empty() ? "the plain run" : StrCat("--deep: ", Listed(experiments, 9));
}

std::string_view ExampleLabel(const Example& example) {
  return example.expect == Expect::kClean ? "clean" : "faulty";
}

}  // namespace

std::string RenderExplanation(const Check& check) {
  std::string text = Spread(check.id, StrCat(SeverityName(check.worst), " at worst · covers ",
                                             Joined(check.covers, ", "))) +
                     "\n";
  text += Entry("Promise", check.promise) + Entry("Why", check.why) + Entry("Method", check.method) +
          Entry("Fix", check.fix) + Entry("Limits", check.limits) + Entry("Needs", Needs(check));
  for (const Setting& setting : check.settings) text += Entry("Setting", SettingLine(setting));
  for (const Example& example : check.examples) {
    text += Entry("Example", StrCat(ExampleLabel(example), ": ", example.title));
  }
  if (!check.explains.empty()) text += Entry("Explains", Joined(check.explains, ", "));
  return text + Entry("Sources", Joined(check.sources, "; "));
}

std::string RenderCatalog(std::span<const Check> checks) {
  std::string text =
      "# Checks\n\nMade by `dlcheck explain --all`; do not edit. A check's id is the fault it "
      "finds.\n";
  for (const Check& check : checks) {
    StrAppend(&text, "\n## ", check.id, "\n\n", check.promise, "\n\n");
    StrAppend(&text, "- **Severity:** ", SeverityName(check.worst), " at worst\n");
    StrAppend(&text, "- **Why:** ", check.why, "\n- **Method:** ", check.method, "\n- **Fix:** ",
              check.fix, "\n- **Limits:** ", check.limits, "\n- **Needs:** ", Needs(check), "\n");
    for (const Setting& setting : check.settings) {
      StrAppend(&text, "- **Setting:** ", SettingLine(setting), "\n");
    }
    for (const Example& example : check.examples) {
      StrAppend(&text, "- **Example, ", ExampleLabel(example), ":** ", example.title, "\n");
    }
    StrAppend(&text, "- **Sources:** ", Joined(check.sources, "; "), "\n");
  }
  return text;
}

}  // namespace dlcheck
