// The known name that a mistyped one most likely means. For messages alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlcheck {

// The candidate with the fewest edits from `word`; empty if all are far from it.
// Cost: one edit distance a candidate.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

// Such as "; did you mean 'steps'?"; empty if nothing is near.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace dlcheck
