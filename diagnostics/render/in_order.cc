#include "diagnostics/render/in_order.h"

#include <algorithm>

#include "diagnostics/triage.h"

namespace dlcheck {

std::vector<const Result*> InOrder(const Report& report) {
  std::vector<const Result*> causes, symptoms;
  for (const Cause& cause : Triage(report)) {
    causes.push_back(cause.result);
    symptoms.insert(symptoms.end(), cause.symptoms.begin(), cause.symptoms.end());
  }
  causes.insert(causes.end(), symptoms.begin(), symptoms.end());
  return causes;
}

const Place* LineOf(const Finding& finding) {
  const auto place = std::ranges::find_if(
      finding.places, [](const Place& p) { return !p.file.empty() && p.line > 0; });
  return place == finding.places.end() ? nullptr : &*place;
}

std::string ShownPath(const std::string& file, const Frame& frame) {
  const std::string folder = frame.folder + "/";
  return !frame.folder.empty() && file.starts_with(folder) ? file.substr(folder.size()) : file;
}

}  // namespace dlcheck
