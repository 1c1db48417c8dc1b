// Pages that tests render, for a browser that opens them.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>

namespace dlcheck {

// Also put into the folder DLCHECK_PAGES, where a browser opens it; see tests/pages.
inline std::string Kept(const std::string& name, const std::string& page) {
  if (const char* folder = std::getenv("DLCHECK_PAGES")) {
    std::ofstream(folder + ("/" + name) + ".html") << page;
  }
  return page;
}

}  // namespace dlcheck
