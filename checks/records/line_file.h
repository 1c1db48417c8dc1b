// The text format of side files and requests: one entry a line, fields parted by tabs, each field
// percent-escaped (tab, newline, carriage return, percent sign and bytes below 32). A last line
// without its newline was torn by a crash and is ignored. Bounds-checked, because a reader may be
// handed anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checks/records/expected.h"

namespace dlcheck {

using LineFields = std::vector<std::string>;

std::string EscapeField(std::string_view text);
// A malformed escape is kept as it stands.
std::string UnescapeField(std::string_view text);

// One line with its newline.
std::string FormatLine(const std::vector<std::string_view>& fields);

// All complete lines of `text`; empty lines are left out.
std::vector<LineFields> ParseLines(std::string_view text);

// Errors: NotFound, Unavailable; Invalid when it is no regular file, such as a pipe that nobody may
// ever write to, or larger than `limit_bytes`.
Expected<std::string> ReadWholeFile(const std::string& path, size_t limit_bytes);

// Creates or replaces `path`: written beside it and renamed, so that whoever reads sees the old
// text or the new one, and a full disk keeps the old. A new file gets `mode` less the umask.
// Devices and pipes are written to; links are followed. Errors: NotFound, Unavailable.
Expected<Done> WriteWholeFile(const std::string& path, std::string_view text, unsigned mode = 0666);

}  // namespace dlcheck
