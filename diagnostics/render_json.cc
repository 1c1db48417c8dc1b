#include <cmath>
#include <nlohmann/json.hpp>

#include "checks/engine/text.h"
#include "checks/records/digest.h"
#include "checks/records/version.h"
#include "diagnostics/render.h"
#include "diagnostics/triage.h"

namespace dlcheck {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no numbers for these three.
Json Number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

std::string_view EndingName(Ending::How how) {
  switch (how) {
    case Ending::How::kFinished:
      return "finished";
    case Ending::How::kFailed:
      return "failed";
    case Ending::How::kKilled:
      return "killed";
    case Ending::How::kDeadline:
      return "deadline";
    case Ending::How::kStopped:
      return "stopped";
    case Ending::How::kTruncated:
      return "truncated";
  }
  return "";
}

// The same for the same fault in another run: id and places, no numbers.
std::string Fingerprint(const Check& check, const Finding& finding) {
  std::string text(check.id);
  for (const Place& place : finding.places) StrAppend(&text, "|", place.thing, "|", place.file);
  return absl::StrCat(absl::Hex(Digest(text.data(), text.size()), absl::kZeroPad16));
}

Json RenderPlace(const Place& place) {
  Json json = Json::object();
  if (!place.thing.empty()) json["thing"] = place.thing;
  if (place.rank >= 0) json["rank"] = place.rank;
  if (!place.file.empty()) json["file"] = place.file;
  if (place.line > 0) json["line"] = place.line;
  return json;
}

Json RenderFinding(const Check& check, const Finding& finding) {
  Json places = Json::array();
  for (const Place& place : finding.places) places.push_back(RenderPlace(place));
  return {{"severity", SeverityName(finding.severity)},
          {"message", finding.message},
          {"places", places},
          {"first_step", finding.first_step},
          {"last_step", finding.last_step},
          {"count", finding.count},
          {"measured", Number(finding.measured)},
          {"bound", Number(finding.bound)},
          {"fix", check.fix},
          {"fingerprint", Fingerprint(check, finding)}};
}

Json RenderResult(const Result& result) {
  Json findings = Json::array();
  for (const Finding& finding : result.verdict.findings) {
    findings.push_back(RenderFinding(*result.check, finding));
  }
  const bool failed = result.outcome == Outcome::kFailed;
  return {{"id", result.check->id},
          {"outcome", OutcomeName(result.outcome)},
          {"severity", SeverityName(failed ? WorstOf(result.verdict) : result.check->worst)},
          {"findings", findings},
          {"judged", result.verdict.judged},
          {"reason", result.reason}};
}

Json RenderRun(const RunSummary& run) {
  Json json = {{"experiment", Describe(run.experiment)}};
  if (!run.missing.empty()) {
    json["missing"] = run.missing;
  } else {
    json["ended"] = EndingName(run.ending.how);
    json["status"] = run.ending.status;
  }
  return json;
}

Json RenderOrder(const Report& report) {
  Json order = Json::array();
  for (const Cause& cause : Triage(report)) {
    Json hidden = Json::array();
    for (const Result* symptom : cause.symptoms) hidden.push_back(symptom->check->id);
    order.push_back({{"id", cause.result->check->id}, {"hides", hidden}});
  }
  return order;
}

}  // namespace

std::string RenderJson(const Report& report, const Frame& frame) {
  Json counts = Json::object();
  for (const Outcome outcome : {Outcome::kPassed, Outcome::kFailed, Outcome::kNotApplicable,
                                Outcome::kNotSeen, Outcome::kOverAllowance, Outcome::kBroken}) {
    counts[std::string(OutcomeName(outcome))] = Count(report, outcome);
  }
  Json checks = Json::array();
  for (const Result& result : report.results) checks.push_back(RenderResult(result));
  Json runs = Json::array();
  for (const RunSummary& run : report.runs) runs.push_back(RenderRun(run));
  const Json json = {
      {"schema", 1},
      {"tool", {{"name", "dlcheck"}, {"version", kVersion}}},
      {"command", frame.command},
      {"exit", {{"code", frame.exit_code}, {"reason", frame.exit_reason}, {"counts", counts}}},
      {"coverage",
       {{"steps", report.coverage.steps},
        {"sampled_steps", report.coverage.sampled_steps},
        {"parameters", report.coverage.parameters},
        {"parameters_with_gradient", report.coverage.parameters_with_gradient}}},
      {"runs", runs},
      {"order", RenderOrder(report)},
      {"checks", checks},
      {"volatile", {{"started", frame.started}, {"wall_seconds", frame.wall_seconds}}},
  };
  // Whatever bytes a user's names hold, the file stays valid.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dlcheck
