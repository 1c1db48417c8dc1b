#include <nlohmann/json.hpp>

#include "diagnostics/compare/comparison.h"
#include "diagnostics/compare/comparison_text.h"

namespace dlcheck {
namespace {

using Json = nlohmann::ordered_json;

Json First(const Comparison& comparison) {
  if (!comparison.walk.first.has_value()) return nullptr;
  const Difference& first = *comparison.walk.first;
  return {{"step_a", first.step_a},
          {"step_b", first.step_b},
          {"stage", StageName(first.stage)},
          {"quantity", first.quantity},
          {"thing", first.thing},
          {"a", first.a},
          {"b", first.b},
          {"relative", first.relative},
          {"count_a", first.count_a},
          {"count_b", first.count_b},
          {"last_equal_step", first.last_equal},
          {"cause", OriginName(comparison.reason.origin)},
          {"evidence", comparison.reason.text}};
}

Json Findings(const std::vector<ComparedFinding>& findings) {
  Json all = Json::array();
  for (const ComparedFinding& one : findings) {
    all.push_back({{"severity", SeverityName(one.severity)},
                   {"check", one.check},
                   {"message", one.message},
                   {"place", one.place},
                   {"fingerprint", one.fingerprint}});
  }
  return all;
}

}  // namespace

std::string RenderComparisonJson(const Comparison& comparison) {
  const LossOutcome& outcome = comparison.outcome;
  Json json = {{"schema", "dlcheck-comparison/1"},
               {"a", {{"run", comparison.name_a}, {"steps", comparison.steps_a}}},
               {"b", {{"run", comparison.name_b}, {"steps", comparison.steps_b}}},
               {"offset", comparison.offset.has_value() ? Json(*comparison.offset) : Json()},
               {"equal_values", comparison.walk.values},
               {"compared_steps", comparison.walk.steps},
               {"first_difference", First(comparison)},
               {"incomplete", comparison.incomplete},
               {"unequal", Json::array()},
               {"outcome",
                {{"b_is", BetterName(outcome.b)},
                 {"measure", outcome.measure},
                 {"a", outcome.of_a},
                 {"b", outcome.of_b},
                 {"interval", {outcome.low, outcome.high}},
                 {"reason", outcome.reason}}},
               {"added", Findings(comparison.added)},
               {"gone", Findings(comparison.gone)}};
  for (const UnequalFact& fact : comparison.facts) {
    json["unequal"].push_back({{"name", fact.name}, {"a", fact.a}, {"b", fact.b}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dlcheck
