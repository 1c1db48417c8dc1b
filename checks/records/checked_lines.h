// Texts of lines (line_file.h) that say of themselves whether they are whole: their last line holds
// the CRC of all before it. Requests and endings are such texts.
#pragma once

#include <string>
#include <string_view>

#include "checks/records/expected.h"

namespace dlcheck {

// `lines` with the line `check` behind them.
std::string WithCheck(const std::string& lines);

// The text without its last line, where that is right. Errors: Damaged, naming `path`.
Expected<std::string> WithoutCheck(std::string_view text, const std::string& path);

}  // namespace dlcheck
