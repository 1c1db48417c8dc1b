// From what a user wrote to what is meant.
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "checks/catalog/catalog.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/records/nearest.h"
#include "diagnostics/cli/config/baseline_file.h"
#include "diagnostics/cli/config/choice.h"
#include "diagnostics/cli/config/configuration.h"
#include "diagnostics/cli/kept_samples.h"

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

// What the user wants judged, and how.
absl::Status ResolveChecks(const Options& options, const Configuration& file, Choice& choice) {
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
  choice.declared = file.declared;
  for (const std::string& text : options.declared) {
    DLCHECK_RETURN_IF_ERROR(DeclareFromText(text, choice.declared));
  }
  return absl::OkStatus();
}

// What of the findings does not count.
absl::Status ResolveExemptions(const Options& options, const Configuration& file, Choice& choice) {
  const std::optional<std::string>& baseline = options.baseline ? options.baseline : file.baseline;
  if (baseline) {
    DLCHECK_ASSIGN_OR_RETURN(choice.exemptions.accepted, ReadBaseline(*baseline));
  } else if (options.new_only) {
    return absl::InvalidArgumentError("--new-only needs --baseline FILE");
  }
  for (const Suppression& suppression : file.suppressions) {
    DLCHECK_RETURN_IF_ERROR(SelectChecks({suppression.check}, {}).status());
  }
  choice.exemptions.suppressions = file.suppressions;
  choice.exemptions.today = absl::ToCivilDay(absl::Now(), absl::UTCTimeZone());
  return absl::OkStatus();
}

// "FIRST:LAST", both counted from 0.
absl::Status ResolveSteps(const std::string& text, Choice& choice) {
  if (text.empty()) return absl::OkStatus();
  int64_t first = 0, last = 0;
  const size_t colon = text.find(':');
  const bool is_range = colon != std::string::npos &&
                        absl::SimpleAtoi(text.substr(0, colon), &first) &&
                        absl::SimpleAtoi(text.substr(colon + 1), &last);
  if (!is_range || first < 0 || last < first) {
    return absl::InvalidArgumentError(
        "--record-steps takes FIRST:LAST with 0 <= FIRST <= LAST, not '" + text + "'");
  }
  choice.whole_first = first;
  choice.whole_last = last;
  return absl::OkStatus();
}

// The first steps are recorded in full, so that every loss of theirs is examined.
absl::Status ResolveCapture(const Options& options, Choice& choice) {
  choice.capture = options.capture;
  if (!choice.capture) return absl::OkStatus();
  if (choice.whole_first) {
    return absl::InvalidArgumentError(
        "--capture records its steps in full: leave out --record-steps");
  }
  choice.whole_first = 0;
  choice.whole_last = *choice.capture - 1;
  return absl::OkStatus();
}

// How the program is run, and for how long.
absl::Status ResolveRun(const Options& options, const Configuration& file, Choice& choice) {
  if (options.stop_on && options.no_live) {
    return absl::InvalidArgumentError(
        "--stop-on needs the live findings that --no-live switches off");
  }
  if (const auto seconds = options.deep_timeout ? options.deep_timeout : file.deep_timeout) {
    choice.allowance.time = absl::Seconds(*seconds);
  }
  choice.allowance.experiments = options.deep;
  if (options.timeout) choice.timeout = absl::Seconds(*options.timeout);
  DLCHECK_RETURN_IF_ERROR(ResolveSteps(options.record_steps, choice));
  DLCHECK_RETURN_IF_ERROR(ResolveCapture(options, choice));
  choice.seed = options.seed;
  choice.steps = options.steps;
  choice.resume_command = options.resume_command;
  choice.live = !options.no_live;
  choice.stop_on_error = options.stop_on.has_value();
  choice.deep_network = options.deep_network;
  choice.save_batch = options.save_batch;
  choice.samples = options.samples;
  if (choice.samples && *choice.samples > kMostSamples) {
    return absl::InvalidArgumentError(
        StrCat("--samples ", *choice.samples, ": at most ", kMostSamples));
  }
  choice.dry_run = options.dry_run;
  choice.exits_as_program = options.exit_code == "program";
  return absl::OkStatus();
}

// Where results go, and how much they say.
absl::Status ResolveReports(const Options& options, const Configuration& file, Choice& choice) {
  for (const std::string& text : options.reports) {
    DLCHECK_ASSIGN_OR_RETURN(Output output, OutputFrom(text));
    choice.reports.push_back(std::move(output));
  }
  choice.write_baseline = options.write_baseline;
  choice.show_skipped = options.show_skipped;
  choice.color = options.color;
  choice.new_only = options.new_only;
  choice.output_dir_is_default = !options.output_dir && !file.output_dir;
  choice.output_dir = options.output_dir.value_or(file.output_dir.value_or(choice.output_dir));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Choice> Resolve(const Options& options) {
  DLCHECK_ASSIGN_OR_RETURN(const Configuration file, FindConfiguration());
  Choice choice;
  DLCHECK_RETURN_IF_ERROR(ResolveChecks(options, file, choice));
  DLCHECK_RETURN_IF_ERROR(ResolveExemptions(options, file, choice));
  DLCHECK_RETURN_IF_ERROR(ResolveReports(options, file, choice));
  DLCHECK_RETURN_IF_ERROR(ResolveRun(options, file, choice));
  DLCHECK_ASSIGN_OR_RETURN(choice.fail_on,
                           SeverityNamed(options.fail_on.value_or(file.fail_on.value_or("error"))));
  choice.partial = options.partial;
  return choice;
}

}  // namespace dlcheck::cli
