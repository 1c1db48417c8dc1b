#include "diagnostics/cli/result_file.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "checks/catalog/catalog.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/engine/trace_reader.h"
#include "checks/records/version.h"

namespace dlcheck::cli {
namespace {

using Json = nlohmann::ordered_json;

// A member's value; that of `none` if there is no such member.
template <typename T>
T Get(const Json& object, const char* key, T none = {}) {
  const auto member = object.find(key);
  return member == object.end() ? none : member->get<T>();
}

// The enumerator whose name is `word`; the first if none is.
template <typename E>
E Named(const std::string& word, std::string_view (*name)(E), std::initializer_list<E> all) {
  for (const E value : all) {
    if (name(value) == word) return value;
  }
  return *all.begin();
}

double Number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  const double infinity = std::numeric_limits<double>::infinity();
  if (value == "inf") return infinity;
  return value == "-inf" ? -infinity : std::numeric_limits<double>::quiet_NaN();
}

Severity SeverityIn(const Json& object) {
  return Named(Get<std::string>(object, "severity"), &SeverityName,
               {Severity::kNote, Severity::kWarning, Severity::kError});
}

Finding FindingFrom(const Json& json) {
  Finding finding{.severity = SeverityIn(json),
                  .message = json.at("message"),
                  .places = {},
                  .first_step = json.at("first_step"),
                  .last_step = json.at("last_step"),
                  .count = json.at("count"),
                  .measured = Number(json.at("measured")),
                  .bound = Number(json.at("bound"))};
  if (json.contains("chain")) finding.chain = json.at("chain").get<std::vector<std::string>>();
  for (const Json& place : json.at("places")) {
    finding.places.push_back({.thing = Get<std::string>(place, "thing"),
                              .rank = Get<int>(place, "rank", -1),
                              .file = Get<std::string>(place, "file"),
                              .line = Get<int>(place, "line")});
  }
  return finding;
}

absl::StatusOr<Result> ResultOf(const Json& json) {
  const std::string id = json.at("id");
  const Check* check = FindCheck(id);
  if (check == nullptr) {
    return absl::InvalidArgumentError(
        StrCat("the result has a check '", id, "' that this version does not know"));
  }
  Result result{.check = check,
                .outcome = Named(
                    json.at("outcome").get<std::string>(), &OutcomeName,
                    {Outcome::kBroken, Outcome::kPassed, Outcome::kFailed, Outcome::kNotApplicable,
                     Outcome::kNotSeen, Outcome::kOverAllowance, Outcome::kSetAside}),
                .reason = json.at("reason"),
                .verdict = {.findings = {}, .judged = json.at("judged")}};
  for (const Json& finding : json.at("findings")) {
    result.verdict.findings.push_back(FindingFrom(finding));
  }
  for (const Json& aside : Get<Json>(json, "set_aside", Json::array())) {
    const bool accepted = aside.at("how") == "accepted";
    result.set_aside.push_back(
        {FindingFrom(aside),
         accepted ? SetAsideFinding::How::kAccepted : SetAsideFinding::How::kSuppressed,
         Get<std::string>(aside, "reason")});
  }
  return result;
}

// The experiment that is described so; the plain run if no check needs such a one.
Experiment ExperimentFrom(const std::string& description) {
  for (const Check& check : Catalog()) {
    for (const Need& need : check.judgement.needs) {
      if (Describe(need.experiment) == description) return need.experiment;
    }
  }
  return kPlain;
}

RunSummary RunFrom(const Json& json) {
  return {.experiment = ExperimentFrom(json.at("experiment")),
          .ending = Ending{EndingNamed(Get<std::string>(json, "ended")), Get<int>(json, "status"),
                           Get<std::string>(json, "stopped_by")},
          .missing = Get<std::string>(json, "missing"),
          .losses = {.damaged = Get<std::vector<std::string>>(json, "damaged"),
                     .missing = Get<std::vector<std::string>>(json, "not_recorded")}};
}

SuppressionUse SuppressionFrom(const Json& json) {
  using State = SuppressionUse::State;
  return {.check = json.at("check"),
          .place = Get<std::string>(json, "place"),
          .reason = json.at("reason"),
          .expires = Get<std::string>(json, "expires"),
          .state = Named(json.at("state").get<std::string>(), &StateName,
                         {State::kUsed, State::kUnused, State::kExpired, State::kNotJudged})};
}

Unseen UnseenFrom(const Json& json) {
  return {.compiled_graphs = json.at("compiled_graphs"),
          .graph_replays = json.at("graph_replays"),
          .opaque_modules = json.at("opaque_modules"),
          .layers = json.at("layers"),
          .layers_seen = json.at("layers_seen")};
}

ProcessSummary ProcessFrom(const Json& json) {
  return {.rank = json.at("rank"),
          .steps = json.at("steps"),
          .last_loss = Number(json.at("last_loss")),
          .batch = json.at("batch"),
          .step_seconds = json.at("step_seconds"),
          .own_seconds = json.at("own_seconds"),
          .ended = json.at("ended")};
}

Coverage CoverageFrom(const Json& json) {
  Coverage coverage{.training = json.at("training"),
                    .steps = json.at("steps"),
                    .sampled_steps = json.at("sampled_steps"),
                    .cut = Get<bool>(json, "cut", false),
                    .parameters = json.at("parameters"),
                    .parameters_with_gradient = json.at("parameters_with_gradient"),
                    .unseen = json.contains("unseen") ? UnseenFrom(json.at("unseen")) : Unseen()};
  for (const Json& process : Get<Json>(json, "processes", Json::array())) {
    coverage.processes.push_back(ProcessFrom(process));
  }
  return coverage;
}

Recording RecordingFrom(const Json& json) {
  return {.rejected = Get<std::string>(json, "rejected"),
          .gaps = json.at("gaps"),
          .redirected = json.at("redirected")};
}

TriedChange TriedFrom(const Json& json) {
  TriedChange tried{.check = json.at("check"),
                    .file = json.at("file"),
                    .diff = json.at("diff"),
                    .outcome = json.at("outcome"),
                    .gone = json.at("gone")};
  if (json.contains("loss_before")) {
    tried.loss_before = Number(json.at("loss_before"));
    tried.loss_after = Number(json.at("loss_after"));
  }
  return tried;
}

absl::StatusOr<ReadResult> From(const Json& json) {
  const std::string version = json.at("tool").at("version");
  if (version != kVersion) {
    return absl::InvalidArgumentError(StrCat("the result is of dlcheck ", version, ", this is ",
                                             kVersion,
                                             "; dlcheck judge gives one of this version"));
  }
  ReadResult read;
  for (const Json& check : json.at("checks")) {
    DLCHECK_ASSIGN_OR_RETURN(Result result, ResultOf(check));
    read.report.results.push_back(std::move(result));
  }
  for (const Json& run : json.at("runs")) read.report.runs.push_back(RunFrom(run));
  for (const Json& use : json.at("suppressions")) {
    read.report.suppressions.push_back(SuppressionFrom(use));
  }
  read.report.coverage = CoverageFrom(json.at("coverage"));
  read.report.recording = RecordingFrom(json.at("recording"));
  read.frame.command = json.at("command").get<std::vector<std::string>>();
  read.frame.exit_code = json.at("exit").at("code");
  read.frame.exit_reason = json.at("exit").at("reason");
  read.frame.fail_on = Named(json.at("exit").at("fail_on").get<std::string>(), &SeverityName,
                             {Severity::kError, Severity::kWarning, Severity::kNote});
  read.frame.loss = Get<std::string>(json, "loss");
  if (json.contains("tried")) read.frame.tried = TriedFrom(json.at("tried"));
  read.frame.started = json.at("volatile").at("started");
  read.frame.wall_seconds = json.at("volatile").at("wall_seconds");
  return read;
}

}  // namespace

absl::StatusOr<ReadResult> ResultFrom(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("tool")) {
    return absl::InvalidArgumentError("this is no result.json of dlcheck");
  }
  try {
    return From(json);
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(StrCat("the result is damaged: ", error.what()));
  }
}

}  // namespace dlcheck::cli
