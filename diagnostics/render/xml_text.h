// Bytes of a user's names, made fit for formats that take text alone.
#pragma once

#include <string>
#include <string_view>

namespace dlcheck {

// `text` as XML 1.0 can hold it: bytes that are no UTF-8, and characters that it forbids, become
// U+FFFD. Cost: one pass.
std::string XmlText(std::string_view text);

}  // namespace dlcheck
