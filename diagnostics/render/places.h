// Where a finding is, in words.
#pragma once

#include <string>

#include "checks/engine/check.h"

namespace dlcheck {

inline constexpr int kPlacesShown = 4;

// "train.py:41, steps 1 to 400"
std::string WhereAndWhen(const Finding& finding);

// The things of a finding that its first line does not show; empty if there are none.
std::string MorePlaces(const Finding& finding);

// All lines of a finding; empty where its first line shows the only one.
std::string LinesOf(const Finding& finding);

}  // namespace dlcheck
