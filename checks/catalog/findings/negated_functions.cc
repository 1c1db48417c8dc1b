#include "checks/catalog/findings/negated_functions.h"

#include <algorithm>
#include <span>

#include "checks/catalog/findings/loss_finding.h"
#include "checks/engine/text.h"

namespace dlcheck {
namespace {

bool AreNegative(std::span<const Sample> shares) {
  return std::ranges::all_of(shares, [](const Sample& share) { return share.value < 0; });
}

}  // namespace

std::vector<Finding> NegatedFunctions(const LossFunctions& losses, double fewest) {
  std::vector<Finding> findings;
  for (const LossFunctions::Function& function : losses.functions) {
    const int64_t steps = StepsOf(function.shares) + StepsOf(function.terms);
    if (static_cast<double>(steps) < fewest) continue;
    if (!AreNegative(function.shares) || !AreNegative(function.terms)) continue;
    const std::span<const Sample> shares =
        function.terms.empty() ? function.shares : function.terms;
    findings.push_back(LossFinding(
        function, Severity::kNote,
        StrCat("In all ", Counted(steps, "sampled step"), " with ", function.name,
               ", backward() used it times a negative number (", Short(shares.front().value), ")."),
        shares, shares.front().value, 0));
  }
  return findings;
}

}  // namespace dlcheck
