// Builds the nodes of a page. All text of users goes through here: it is cleaned, escaped by the
// library, and cut where it is very long.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace dlcheck::html {

using Node = pugi::xml_node;

inline constexpr size_t kLongestName = 240;   // bytes of a name that are shown
inline constexpr size_t kLongestText = 4000;  // of a message

// An element below `parent`; `look` is its class in the style sheet.
Node Add(Node parent, const char* tag, std::string_view text = "", std::string_view look = "");
void AddText(Node parent, std::string_view text);
void Set(Node node, const char* attribute, std::string_view value);
// A name of the program, kept apart from the text around it whatever direction it is written in.
Node AddName(Node parent, std::string_view name, const char* tag = "bdi");
// A table with a row of headings; `caption` is read out before it.
Node AddTable(Node parent, std::string_view caption, const std::vector<std::string>& headings);
void AddRow(Node table, const std::vector<std::string>& cells);

// At most `most` bytes, without half a character, and how many are left out.
std::string Cut(std::string_view text, size_t most);

}  // namespace dlcheck::html
