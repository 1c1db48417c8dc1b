// A finding about one loss function, for the checks of loss inputs.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checks/engine/check.h"
#include "checks/signals/loss/loss_functions.h"

namespace dlcheck {

// Over the steps of `samples`; over the whole run if `samples` is empty.
inline Finding LossFinding(const LossFunctions::Function& function, Severity severity,
                           std::string message, std::span<const Sample> samples, double measured,
                           double bound) {
  std::vector<Place> places = {{.thing = function.name, .file = ""}};
  if (function.site.line > 0) {
    places.push_back({.thing = "", .file = function.site.file, .line = function.site.line});
  }
  return {.severity = severity,
          .message = std::move(message),
          .places = std::move(places),
          .first_step = samples.empty() ? 0 : samples.front().step,
          .last_step = samples.empty() ? 0 : samples.back().step,
          .count = std::max<int64_t>(1, StepsOf(samples)),
          .measured = measured,
          .bound = bound};
}

// Why a check of losses has nothing to judge.
inline absl::Status NoSuchLoss(std::string_view what) {
  return absl::FailedPreconditionError(std::string(what) + " was called in training");
}

}  // namespace dlcheck
