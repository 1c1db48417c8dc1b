#include "checks/engine/check.h"

namespace dlcheck {

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "";
}

std::string_view AreaOf(std::string_view id) { return id.substr(0, id.find('/')); }

}  // namespace dlcheck
