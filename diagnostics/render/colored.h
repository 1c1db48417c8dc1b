// Colors for a terminal, put on a text that is whole without them.
#pragma once

#include <string>
#include <string_view>

namespace dlcheck {

// The words before the text of each line in color, and the id of a finding's check. Nothing else
// changes: without the escape codes the text is the same.
std::string Colored(std::string_view text);

}  // namespace dlcheck
