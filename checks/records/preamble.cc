#include "checks/records/preamble.h"

#include "checks/records/line_file.h"
#include "checks/records/record.h"
#include "checks/records/version.h"

namespace dlcheck {

std::string Preamble(const std::string& writer, const std::string& run) {
  std::string text =
      FormatLine({"format", std::to_string(kFormatMajor) + "." + std::to_string(kFormatMinor)}) +
      FormatLine({"writer", writer, kVersion}) + FormatLine({"run", run});
#define DLCHECK_EVENT(enumerator, name, number, writers, meaning) \
  text += FormatLine({"event", #number, name});
#include "checks/records/event.def"
#undef DLCHECK_EVENT
#define DLCHECK_QUANTITY(enumerator, name, number, unit, writers, meaning) \
  text += FormatLine({"quantity", #number, name});
#include "checks/records/quantity.def"
#undef DLCHECK_QUANTITY
  return text;
}

}  // namespace dlcheck
