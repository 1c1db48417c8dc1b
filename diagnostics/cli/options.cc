#include "diagnostics/cli/options.h"

#include <algorithm>
#include <cstdio>

#include "checks/engine/text.h"
#include "checks/records/nearest.h"

namespace dlcheck::cli {

void AddSharedOptions(CLI::App& app, Options& options) {
  app.add_option("--select", options.select, "checks to judge: ids, areas or globs")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--ignore", options.ignore, "checks to leave out")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--set", options.set, "area/name:setting=value, repeatable")
      ->allow_extra_args(false);
  app.add_option("--require", options.required, "checks that must reach a verdict (else exit 4)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--fail-on", options.fail_on, "note, warning or error (default)");
  app.add_option("--program", options.program, "what the program means, KEY=VALUE, repeatable")
      ->allow_extra_args(false);
  app.add_option("--json", options.json, "write result.json here as well");
  app.add_option("--output", options.outputs,
                 "junit=FILE, json=FILE, text=FILE or github, repeatable")
      ->allow_extra_args(false);
  app.add_option("--baseline", options.baseline, "accept the findings that this file holds");
  app.add_option("--write-baseline", options.write_baseline, "write a file for --baseline");
  app.add_flag("--new-only", options.new_only, "list new findings alone, and count the accepted");
  app.add_flag("--reasons", options.reasons, "say why each check reached no verdict");
}

void AddRunOptions(CLI::App& app, Options& options) {
  AddSharedOptions(app, options);
  app.add_option("--out", options.out, "folder of records and result (dlcheck-out)");
  app.add_option("--time", options.time_seconds, "seconds that all experiments may take (600)")
      ->check(CLI::PositiveNumber);
  app.add_option("--deadline", options.deadline_seconds,
                 "end the program itself after so many seconds (never; 600 for check)")
      ->check(CLI::PositiveNumber);
  app.add_flag("--no-live", options.no_live, "judge at the end alone");
  app.add_option("--stop-on", options.stop_on, "error: end the program at its first live error")
      ->check(CLI::IsMember({"error"}));
  app.add_option("--exit-status", options.exit_status,
                 "subject: exit as the program did, whatever was found")
      ->check(CLI::IsMember({"dlcheck", "subject"}));
}

std::optional<int> Parse(CLI::App& app, std::vector<std::string> words,
                         std::vector<std::string>* rest) {
  if (rest != nullptr) app.allow_extras();
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes words from the back
    app.parse(words);
    if (rest != nullptr) *rest = app.remaining();
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return kExitClean;
  } catch (const CLI::ExtrasError&) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
    const std::string word = app.remaining().empty() ? "" : app.remaining().front();
    return Refuse(
        absl::InvalidArgumentError(StrCat("unknown option '", word, "'", DidYouMean(word, names))));
  } catch (const CLI::ParseError& error) {
    return Refuse(absl::InvalidArgumentError(error.what()));
  }
}

int Refuse(const absl::Status& status) {
  std::fprintf(stderr, "dlcheck: %s\n", std::string(status.message()).c_str());
  return kExitUsage;
}

}  // namespace dlcheck::cli
