#include "diagnostics/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "diagnostics/render/colored.h"
#include "diagnostics/render/layout.h"

namespace dlcheck::cli {
namespace {

constexpr size_t kFewestColumns = 40;

bool ShowsColors(FILE* to, const std::string& when) {
  if (when != "auto") return when == "always";
  const char* none = std::getenv("NO_COLOR");
  if (none != nullptr && *none != '\0') return false;
  const char* kind = std::getenv("TERM");
  return isatty(fileno(to)) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

size_t ColumnsOf(FILE* to) {
  winsize size{};
  if (ioctl(fileno(to), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kColumns;
  return std::clamp<size_t>(size.ws_col, kFewestColumns, kColumns);
}

}  // namespace

void AddColorOption(CommandLine& line, std::string& when) {
  line.Value("--color", "WHEN", &when, "color the report: auto (default), always or never",
             {.choices = {"auto", "always", "never"}});
}

void Print(FILE* to, const std::function<std::string()>& render, const std::string& when) {
  const LineLength length(ColumnsOf(to));
  const std::string text = render();
  std::fputs(ShowsColors(to, when) ? Colored(text).c_str() : text.c_str(), to);
}

}  // namespace dlcheck::cli
