#include "diagnostics/cli/options.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "absl/strings/numbers.h"
#include "checks/catalog/catalog.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/records/nearest.h"
#include "diagnostics/cli/configuration.h"

namespace dlcheck::cli {
namespace {

absl::StatusOr<Severity> SeverityNamed(const std::string& name) {
  for (const Severity severity : {Severity::kNote, Severity::kWarning, Severity::kError}) {
    if (SeverityName(severity) == name) return severity;
  }
  return absl::InvalidArgumentError(
      StrCat("--fail-on takes note, warning or error, not '", name, "'"));
}

absl::StatusOr<const Check*> CheckNamed(const std::string& id) {
  if (const Check* check = FindCheck(id)) return check;
  std::vector<std::string> ids;
  for (const Check& check : Catalog()) ids.emplace_back(check.id);
  return absl::InvalidArgumentError(StrCat("no check is named '", id, "'", DidYouMean(id, ids)));
}

absl::Status SetValue(const std::string& id, const std::string& name, double value,
                      ChangedSettings& settings) {
  DLCHECK_ASSIGN_OR_RETURN(const Check* check, CheckNamed(id));
  std::vector<std::string> names;
  for (const Setting& setting : check->settings) {
    names.emplace_back(setting.name);
    if (setting.name != name) continue;
    if (!std::isfinite(value) || value < setting.low || value > setting.high) {
      return absl::InvalidArgumentError(StrCat(id, ":", name, " must be between ", setting.low,
                                               " and ", setting.high, ", not ", value));
    }
    settings[id][name] = value;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      StrCat(id, " has no setting '", name, "'", DidYouMean(name, names)));
}

// "area/name:setting=value"
absl::Status SetFromText(const std::string& text, ChangedSettings& settings) {
  const size_t colon = text.find(':'), equals = text.find('=');
  double value = 0;
  if (colon == std::string::npos || equals == std::string::npos || equals < colon ||
      !absl::SimpleAtod(text.substr(equals + 1), &value)) {
    return absl::InvalidArgumentError(
        StrCat("--set takes area/name:setting=value, not '", text, "'"));
  }
  return SetValue(text.substr(0, colon), text.substr(colon + 1, equals - colon - 1), value,
                  settings);
}

}  // namespace

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
  app.add_option("--json", options.json, "write result.json here as well");
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
  app.add_option("--exit-status", options.exit_status,
                 "subject: exit as the program did, whatever was found")
      ->check(CLI::IsMember({"dlcheck", "subject"}));
}

absl::StatusOr<Choice> Resolve(const Options& options) {
  DLCHECK_ASSIGN_OR_RETURN(const Configuration file, FindConfiguration());
  Choice choice;
  DLCHECK_ASSIGN_OR_RETURN(choice.checks,
                           SelectChecks(options.select.empty() ? file.select : options.select,
                                        options.ignore.empty() ? file.ignore : options.ignore));
  choice.required = options.required.empty() ? file.required : options.required;
  for (const std::string& id : choice.required) {
    DLCHECK_RETURN_IF_ERROR(CheckNamed(id).status());
  }
  for (const auto& [id, settings] : file.settings) {
    for (const auto& [name, value] : settings) {
      DLCHECK_RETURN_IF_ERROR(SetValue(id, name, value, choice.settings));
    }
  }
  for (const std::string& text : options.set) {
    DLCHECK_RETURN_IF_ERROR(SetFromText(text, choice.settings));
  }
  DLCHECK_ASSIGN_OR_RETURN(choice.fail_on,
                           SeverityNamed(options.fail_on.value_or(file.fail_on.value_or("error"))));
  choice.out = options.out.value_or(file.out.value_or(choice.out));
  if (const std::optional<double> time = options.time_seconds ? options.time_seconds : file.time) {
    choice.allowance.time = absl::Seconds(*time);
  }
  choice.allowance.experiments = options.deep;
  return choice;
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
