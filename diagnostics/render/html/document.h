// The frame of a page: its head with the style, its contents, its sections.
#pragma once

#include <string>
#include <string_view>

#include "diagnostics/render/html/markup.h"

namespace dlcheck::html {

// A section with its heading, which the contents link to.
Node AddSection(Node main, const char* id, std::string_view heading);

// Links to the sections that `main` has, before it.
void AddContents(Node main);

// The whole file. `title` is ours, and needs no escaping.
std::string DocumentOf(std::string_view title, Node body);

}  // namespace dlcheck::html
