#include <cmath>
#include <nlohmann/json.hpp>

#include "checks/engine/text.h"
#include "diagnostics/baseline/baseline_result.h"

namespace dlcheck {
namespace {

using Json = nlohmann::json;

// JSON has no number for what is not finite; null stands for it.
double NumberIn(const Json& json) { return json.is_null() ? NAN : json.get<double>(); }

std::vector<double> NumbersIn(const Json& json) {
  std::vector<double> numbers;
  for (const Json& one : json) numbers.push_back(NumberIn(one));
  return numbers;
}

BaselineResult::BaselineModel BaselineIn(const Json& json) {
  BaselineResult::BaselineModel baseline{.name = json.at("name"),
                                         .rate = json.at("rate"),
                                         .milliseconds = json.at("milliseconds_a_step"),
                                         .late_losses = NumbersIn(json.at("late_loss")),
                                         .losses = {}};
  for (const Json& seed : json.at("losses")) baseline.losses.push_back(NumbersIn(seed));
  return baseline;
}

}  // namespace

absl::StatusOr<BaselineResult> ParseBaseline(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  try {
    BaselineResult result{.constant = NumberIn(json.at("constant")),
                          .losses = NumbersIn(json.at("losses")),
                          .milliseconds = NumberIn(json.at("milliseconds_a_step")),
                          .baselines = {},
                          .severity = json.at("severity"),
                          .text = json.at("text"),
                          .weak = json.at("weak")};
    for (const Json& one : json.at("baselines")) result.baselines.push_back(BaselineIn(one));
    return result;
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(StrCat("reference.json is damaged: ", error.what()));
  }
}

}  // namespace dlcheck
