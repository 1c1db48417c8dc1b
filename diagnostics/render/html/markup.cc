#include "diagnostics/render/html/markup.h"

#include "checks/engine/text.h"
#include "diagnostics/render/xml_text.h"

namespace dlcheck::html {

std::string Cut(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return StrCat(text.substr(0, end), "… (", WithCommas(static_cast<int64_t>(text.size() - end)),
                " more bytes)");
}

Node Add(Node parent, const char* tag, std::string_view text, std::string_view look) {
  Node node = parent.append_child(tag);
  if (!look.empty()) Set(node, "class", look);
  if (!text.empty()) AddText(node, text);
  return node;
}

void AddText(Node parent, std::string_view text) {
  parent.append_child(pugi::node_pcdata).set_value(XmlText(Cut(text, kLongestText)).c_str());
}

void Set(Node node, const char* attribute, std::string_view value) {
  node.append_attribute(attribute).set_value(XmlText(value).c_str());
}

Node AddName(Node parent, std::string_view name, const char* tag) {
  Node node = Add(parent, tag, Cut(name, kLongestName), "name");
  if (std::string_view(tag) != "bdi") Set(node, "dir", "auto");
  return node;
}

Node AddTable(Node parent, std::string_view caption, const std::vector<std::string>& headings) {
  Node frame = Add(parent, "div", "", "wide");
  Set(frame, "tabindex", "0");
  Set(frame, "role", "region");
  Set(frame, "aria-label", caption);
  Node table = Add(frame, "table");
  Add(table, "caption", caption);
  Node row = Add(Add(table, "thead"), "tr");
  for (const std::string& heading : headings) Set(Add(row, "th", heading), "scope", "col");
  return Add(table, "tbody");
}

void AddRow(Node table, const std::vector<std::string>& cells) {
  Node row = Add(table, "tr");
  for (const std::string& cell : cells) {
    if (&cell == &cells.front()) {
      Node heading = Add(row, "th");
      Set(heading, "scope", "row");
      AddName(heading, cell);
    } else {
      Add(row, "td", cell);
    }
  }
}

}  // namespace dlcheck::html
