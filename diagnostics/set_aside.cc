#include "diagnostics/set_aside.h"

#include <fnmatch.h>

#include <algorithm>

#include "checks/engine/text.h"
#include "diagnostics/fingerprint.h"

namespace dlcheck {
namespace {

using How = SetAsideFinding::How;
using State = SuppressionUse::State;

bool Matches(const std::string& glob, std::string_view text) {
  return fnmatch(glob.c_str(), std::string(text).c_str(), 0) == 0;
}

bool Covers(const Suppression& suppression, const Check& check) {
  return Matches(suppression.check, check.id) || Matches(suppression.check, AreaOf(check.id));
}

bool Expired(const Suppression& suppression, absl::CivilDay today) {
  return suppression.expires && *suppression.expires < today;
}

// What becomes of one finding: the first suppression that fits it, then the baseline.
std::optional<SetAsideFinding> Exempted(const Exemptions& exemptions, const Check& check,
                                        const Finding& finding, std::vector<bool>& used) {
  for (size_t i = 0; i < exemptions.suppressions.size(); ++i) {
    const Suppression& suppression = exemptions.suppressions[i];
    if (Expired(suppression, exemptions.today) || !Fits(suppression, check, finding)) continue;
    used[i] = true;
    return SetAsideFinding{finding, How::kSuppressed, suppression.reason};
  }
  if (!exemptions.accepted.contains(Fingerprint(check, finding))) return std::nullopt;
  return SetAsideFinding{finding, How::kAccepted, ""};
}

State StateOf(const Suppression& suppression, bool used, const Exemptions& exemptions,
              const Report& report) {
  if (Expired(suppression, exemptions.today)) return State::kExpired;
  if (used) return State::kUsed;
  const bool judged = std::ranges::any_of(report.results, [&](const Result& result) {
    return HasVerdict(result) && Covers(suppression, *result.check);
  });
  return judged ? State::kUnused : State::kNotJudged;
}

}  // namespace

bool Fits(const Suppression& suppression, const Check& check, const Finding& finding) {
  if (!Covers(suppression, check)) return false;
  if (suppression.place.empty()) return true;
  int things = 0, fitting = 0;
  for (const Place& place : finding.places) {
    const std::string& glob = suppression.place;
    const bool in_file =
        !place.file.empty() && (Matches(glob, place.file) || Matches(glob, BaseName(place.file)));
    if (in_file) return true;
    if (place.thing.empty()) continue;
    ++things;
    fitting += Matches(glob, place.thing);
  }
  return things > 0 && fitting == things;
}

void SetAside(const Exemptions& exemptions, Report& report) {
  std::vector<bool> used(exemptions.suppressions.size(), false);
  for (Result& result : report.results) {
    std::vector<Finding> left;
    for (Finding& finding : result.verdict.findings) {
      auto exempted = Exempted(exemptions, *result.check, finding, used);
      if (exempted) {
        result.set_aside.push_back(*std::move(exempted));
      } else {
        left.push_back(std::move(finding));
      }
    }
    result.verdict.findings = std::move(left);
    if (!result.set_aside.empty() && result.verdict.findings.empty()) {
      result.outcome = Outcome::kSetAside;
    }
  }
  for (size_t i = 0; i < exemptions.suppressions.size(); ++i) {
    const Suppression& suppression = exemptions.suppressions[i];
    report.suppressions.push_back(
        {.check = suppression.check,
         .place = suppression.place,
         .reason = suppression.reason,
         .expires = suppression.expires ? absl::FormatCivilTime(*suppression.expires) : "",
         .state = StateOf(suppression, used[i], exemptions, report)});
  }
}

}  // namespace dlcheck
