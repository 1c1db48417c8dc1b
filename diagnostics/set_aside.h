// Takes out of a report the findings that the user accepted in a baseline or suppressed with a
// reason. They do not count, and are still listed.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/civil_time.h"
#include "checks/engine/report.h"

namespace dlcheck {

struct Suppression {
  std::string check;   // an id, an area, or a glob of either
  std::string place;   // a glob over files (with or without folder) and things; empty: anywhere
  std::string reason;  // never empty
  std::optional<absl::CivilDay> expires;  // the last day on which it suppresses
};

struct Exemptions {
  std::set<std::string> accepted;  // fingerprints
  std::vector<Suppression> suppressions;
  absl::CivilDay today;
};

// True if a suppression fits: it matches the check, and one of the finding's files or all of its
// things.
bool Fits(const Suppression& suppression, const Check& check, const Finding& finding);

// Moves what is accepted or suppressed into `set_aside` of its result, and notes in the report what
// became of each suppression. A check without any other finding has the outcome kSetAside.
void SetAside(const Exemptions& exemptions, Report& report);

}  // namespace dlcheck
