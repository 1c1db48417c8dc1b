// A finding about named parameters over all sampled steps.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "checks/engine/check.h"
#include "checks/signals/gradients/gradients.h"

namespace dlcheck {

// `measured` is the number of parameters; the bound is 0. REQUIRES: gradients.steps is not
// empty.
inline Finding FindingAt(const std::vector<std::string>& names, Severity severity,
                         std::string message, const Gradients& gradients) {
  std::vector<Place> places;
  for (const std::string& name : names) places.push_back({.thing = name, .file = ""});
  return {.severity = severity,
          .message = std::move(message),
          .places = std::move(places),
          .first_step = gradients.steps.front(),
          .last_step = gradients.steps.back(),
          .count = static_cast<int64_t>(names.size()),
          .measured = static_cast<double>(names.size()),
          .bound = 0};
}

}  // namespace dlcheck
