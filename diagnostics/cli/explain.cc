// `dlcheck explain ID` and `dlcheck explain --all`.
#include <cstdio>

#include "checks/catalog/catalog.h"
#include "checks/engine/report.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/options.h"
#include "diagnostics/render/render.h"

namespace dlcheck::cli {

int ExplainMain(const Words& words) {
  std::vector<std::string> patterns;
  bool all = false;
  std::string language = "python";
  CommandLine line(
      "explain [OPTIONS] [ID ...]",
      "Prints what a check promises, why, how it judges and how to mend what it finds.");
  line.Value("ID", "ID", &patterns, "a check, an area or a glob");
  line.Value("--language", "LANGUAGE", &language,
             "the language of the fix and the code: python or cpp (python)",
             {.choices = {"python", "cpp"}});
  line.Flag("--all", &all, "every check, as Markdown");
  if (const auto code = line.Parse(words)) return *code;
  if (all) {
    std::fputs(RenderCatalog(Catalog()).c_str(), stdout);
    return kExitClean;
  }
  if (patterns.empty()) {
    return Refuse(absl::InvalidArgumentError("explain needs the id of a check, or --all"));
  }
  const auto checks = SelectChecks(patterns, {});
  if (!checks.ok()) return Refuse(checks.status());
  const Language in = language == "cpp" ? Language::kCpp : Language::kPython;
  for (const Check* check : *checks) {
    if (check != checks->front()) std::fputs("\n", stdout);
    std::fputs(RenderExplanation(*check, in).c_str(), stdout);
  }
  return kExitClean;
}

}  // namespace dlcheck::cli
