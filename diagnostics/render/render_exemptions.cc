#include "diagnostics/render/render_exemptions.h"

#include "checks/engine/text.h"
#include "diagnostics/fingerprint.h"
#include "diagnostics/render/layout.h"

namespace dlcheck {
namespace {

std::string RenderAside(const Result& result, const SetAsideFinding& aside) {
  const bool accepted = aside.how == SetAsideFinding::How::kAccepted;
  const std::string place = PlaceOf(aside.finding);
  return Row("",
             StrCat(accepted ? "accepted: " : "suppressed: ", SeverityName(aside.finding.severity),
                    " ", result.check->id, place.empty() ? "" : " at ", place,
                    accepted ? "" : StrCat(" (", aside.reason, ")")));
}

std::string RenderSuppression(const SuppressionUse& use) {
  const bool expired = use.state == SuppressionUse::State::kExpired;
  if (!expired && use.state != SuppressionUse::State::kUnused) return "";
  return Row("",
             StrCat("suppression ", expired ? StrCat("expired on ", use.expires) : "unused", ": ",
                    use.check, use.place.empty() ? "" : " at ", use.place, " (", use.reason, ")"));
}

}  // namespace

std::string RenderExemptions(const Report& report, bool new_only) {
  std::string text;
  for (const Result& result : report.results) {
    for (const SetAsideFinding& aside : result.set_aside) {
      if (new_only && aside.how == SetAsideFinding::How::kAccepted) continue;
      text += RenderAside(result, aside);
    }
  }
  for (const SuppressionUse& use : report.suppressions) text += RenderSuppression(use);
  return text;
}

}  // namespace dlcheck
