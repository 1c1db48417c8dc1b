#include "checks/engine/check.h"

template class std::vector<dlcheck::Place>;
template class std::vector<dlcheck::Finding>;
template class std::vector<dlcheck::Setting>;
template class std::vector<dlcheck::Example>;
template class std::map<std::string, double, std::less<>>;

namespace dlcheck {

double Settings::operator[](const Setting& setting) const {
  const auto found = changed_.find(setting.name);
  return found == changed_.end() ? setting.value : found->second;
}

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
