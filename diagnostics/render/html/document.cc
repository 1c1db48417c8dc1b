#include "diagnostics/render/html/document.h"

#include <sstream>

#include "checks/engine/text.h"
#include "diagnostics/render/html/style.h"

namespace dlcheck::html {

Node AddSection(Node main, const char* id, std::string_view heading) {
  Node section = Add(main, "section");
  Set(section, "id", id);
  Set(section, "aria-labelledby", StrCat(id, "-heading"));
  Set(Add(section, "h2", heading), "id", StrCat(id, "-heading"));
  return section;
}

void AddContents(Node main) {
  Node nav = main.parent().insert_child_before("nav", main);
  Set(nav, "aria-label", "Contents");
  Node list = Add(nav, "ul");
  for (const Node section : main.children("section")) {
    Node link = Add(Add(list, "li"), "a", section.child("h2").text().get());
    Set(link, "href", StrCat("#", section.attribute("id").value()));
  }
}

std::string DocumentOf(std::string_view title, Node body) {
  std::ostringstream text;
  const bool has_numbers = !body.select_node(".//figure[@class='zoomable']").node().empty();
  body.print(text, "", pugi::format_raw | pugi::format_no_empty_element_tags, pugi::encoding_utf8);
  return StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">",
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">", "<title>", title,
      "</title><style>", kStyle, has_numbers ? kStyleOfScript : "", "</style></head>", text.str(),
      has_numbers ? StrCat("<script class=\"dlcheck\">", kScript, "</script>") : "", "</html>\n");
}

}  // namespace dlcheck::html
