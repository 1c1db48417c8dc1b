#include "reference/optimization/optimizer_options.h"

#include <algorithm>
#include <array>

namespace dlcheck::reference {
namespace {

constexpr std::array<std::string_view, 11> kRules = {"sgd",     "adam",  "adamw",        "rmsprop",
                                                     "adagrad", "nadam", "adafactor",    "muon",
                                                     "lion",    "lamb",  "schedule_free"};

}  // namespace

std::optional<OptimizerRule> RuleFromName(std::string_view name) {
  const auto* const found = std::find(kRules.begin(), kRules.end(), name);
  if (found == kRules.end()) return std::nullopt;
  return static_cast<OptimizerRule>(found - kRules.begin());
}

std::string_view NameOf(OptimizerRule rule) { return kRules.at(static_cast<size_t>(rule)); }

}  // namespace dlcheck::reference
