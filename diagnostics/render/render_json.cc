#include <cmath>
#include <nlohmann/json.hpp>

#include "checks/engine/text.h"
#include "checks/engine/trace_reader.h"
#include "checks/records/version.h"
#include "diagnostics/fingerprint.h"
#include "diagnostics/masked.h"
#include "diagnostics/render/render.h"
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

Json RenderPlace(const Place& place) {
  Json json = Json::object();
  if (!place.thing.empty()) json["thing"] = place.thing;
  if (place.rank >= 0) json["rank"] = place.rank;
  if (!place.file.empty()) json["file"] = place.file;
  if (place.line > 0) json["line"] = place.line;
  return json;
}

Json RenderFinding(const Check& check, const Finding& finding, Language language) {
  Json places = Json::array();
  for (const Place& place : finding.places) places.push_back(RenderPlace(place));
  Json json = {{"severity", SeverityName(finding.severity)},
               {"message", finding.message},
               {"places", places},
               {"first_step", finding.first_step},
               {"last_step", finding.last_step},
               {"count", finding.count},
               {"measured", Number(finding.measured)},
               {"bound", Number(finding.bound)},
               {"fix", FixIn(check, language)},
               {"fingerprint", Fingerprint(check, finding)}};
  if (!finding.chain.empty()) json["chain"] = finding.chain;
  return json;
}

// A list of its own, so that `findings` are those that count.
Json RenderSetAside(const Result& result, Language language) {
  Json list = Json::array();
  for (const SetAsideFinding& aside : result.set_aside) {
    const bool accepted = aside.how == SetAsideFinding::How::kAccepted;
    Json json = RenderFinding(*result.check, aside.finding, language);
    json["how"] = accepted ? "accepted" : "suppressed";
    if (!accepted) json["reason"] = aside.reason;
    list.push_back(std::move(json));
  }
  return list;
}

Json RenderResult(const Result& result, Language language) {
  Json findings = Json::array();
  for (const Finding& finding : result.verdict.findings) {
    findings.push_back(RenderFinding(*result.check, finding, language));
  }
  const bool failed = result.outcome == Outcome::kFailed;
  Json json = {{"id", result.check->id},
               {"title", result.check->title},
               {"outcome", OutcomeName(result.outcome)},
               {"severity", SeverityName(failed ? WorstOf(result.verdict) : result.check->worst)},
               {"findings", findings},
               {"judged", result.verdict.judged},
               {"reason", result.reason}};
  if (!result.set_aside.empty()) json["set_aside"] = RenderSetAside(result, language);
  return json;
}

Json RenderRun(const RunSummary& run) {
  Json json = {{"experiment", Describe(run.experiment)}};
  if (!run.missing.empty()) {
    json["missing"] = run.missing;
  } else {
    json["ended"] = EndingName(run.ending.how);
    json["status"] = run.ending.status;
    if (!run.ending.stopped_by.empty()) json["stopped_by"] = run.ending.stopped_by;
  }
  if (!run.losses.damaged.empty()) json["damaged"] = run.losses.damaged;
  if (!run.losses.missing.empty()) json["not_recorded"] = run.losses.missing;
  return json;
}

Json RenderOrder(const Report& report) {
  Json order = Json::array();
  for (const Cause& cause : Triage(report)) {
    Json hidden = Json::array();
    for (const Result* symptom : cause.symptoms) hidden.push_back(symptom->check->id);
    Json json = {{"id", cause.result->check->id}, {"hides", hidden}};
    const Masked masked = MaskedBy(report, *cause.result);
    if (!masked.checks.empty()) json["masks"] = masked.checks;
    order.push_back(std::move(json));
  }
  return order;
}

// Of checks by outcome, then of findings that are set aside.
Json RenderCounts(const Report& report) {
  Json counts = Json::object();
  for (const Outcome outcome :
       {Outcome::kPassed, Outcome::kFailed, Outcome::kSetAside, Outcome::kNotApplicable,
        Outcome::kNotSeen, Outcome::kOverAllowance, Outcome::kBroken}) {
    counts[std::string(OutcomeName(outcome))] = Count(report, outcome);
  }
  counts["accepted_findings"] = CountSetAside(report, SetAsideFinding::How::kAccepted);
  counts["suppressed_findings"] = CountSetAside(report, SetAsideFinding::How::kSuppressed);
  return counts;
}

Json RenderSuppressions(const Report& report) {
  Json list = Json::array();
  for (const SuppressionUse& use : report.suppressions) {
    Json json = {{"check", use.check}, {"reason", use.reason}, {"state", StateName(use.state)}};
    if (!use.place.empty()) json["place"] = use.place;
    if (!use.expires.empty()) json["expires"] = use.expires;
    list.push_back(std::move(json));
  }
  return list;
}

Json RenderUnseen(const Unseen& unseen) {
  return {{"compiled_graphs", unseen.compiled_graphs},
          {"graph_replays", unseen.graph_replays},
          {"opaque_modules", unseen.opaque_modules},
          {"layers", unseen.layers},
          {"layers_seen", unseen.layers_seen}};
}

Json RenderProcess(const ProcessSummary& process) {
  return {{"rank", process.rank},
          {"steps", process.steps},
          {"last_loss", Number(process.last_loss)},
          {"batch", process.batch},
          {"step_seconds", process.step_seconds},
          {"own_seconds", process.own_seconds},
          {"ended", process.ended}};
}

Json RenderCoverage(const Coverage& coverage) {
  Json json = {{"training", coverage.training},
               {"steps", coverage.steps},
               {"sampled_steps", coverage.sampled_steps},
               {"parameters", coverage.parameters},
               {"parameters_with_gradient", coverage.parameters_with_gradient}};
  if (coverage.cut) json["cut"] = true;
  if (coverage.unseen.Any()) json["unseen"] = RenderUnseen(coverage.unseen);
  for (const ProcessSummary& process : coverage.processes) {
    json["processes"].push_back(RenderProcess(process));
  }
  return json;
}

Json RenderRecording(const Recording& recording) {
  Json json = {{"gaps", recording.gaps}, {"redirected", recording.redirected}};
  if (!recording.rejected.empty()) json["rejected"] = recording.rejected;
  return json;
}

Json RenderTried(const TriedChange& tried) {
  Json json = {{"check", tried.check},
               {"file", tried.file},
               {"diff", tried.diff},
               {"outcome", tried.outcome},
               {"gone", tried.gone}};
  if (tried.loss_before && tried.loss_after) {
    json["loss_before"] = Number(*tried.loss_before);
    json["loss_after"] = Number(*tried.loss_after);
  }
  return json;
}

}  // namespace

std::string RenderJson(const Report& report, const Frame& frame) {
  Json checks = Json::array();
  for (const Result& result : report.results)
    checks.push_back(RenderResult(result, report.language));
  Json runs = Json::array();
  for (const RunSummary& run : report.runs) runs.push_back(RenderRun(run));
  Json json = {
      {"schema", 1},
      {"tool", {{"name", "dlcheck"}, {"version", kVersion}}},
      {"command", frame.command},
      {"exit",
       {{"code", frame.exit_code},
        {"reason", frame.exit_reason},
        {"fail_on", SeverityName(frame.fail_on)},
        {"counts", RenderCounts(report)}}},
      {"coverage", RenderCoverage(report.coverage)},
      {"recording", RenderRecording(report.recording)},
      {"runs", runs},
      {"order", RenderOrder(report)},
      {"checks", checks},
      {"suppressions", RenderSuppressions(report)},
      {"volatile", {{"started", frame.started}, {"wall_seconds", frame.wall_seconds}}},
  };
  if (!frame.loss.empty()) json["loss"] = frame.loss;
  if (frame.tried) json["tried"] = RenderTried(*frame.tried);
  // Whatever bytes a user's names hold, the file stays valid.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dlcheck
