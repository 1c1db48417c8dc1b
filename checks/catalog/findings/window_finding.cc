#include "checks/catalog/findings/window_finding.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "checks/engine/text.h"

namespace dlcheck {

bool Accumulates(const Windows& windows, const std::vector<int64_t>& steps, double bound) {
  int64_t parted = 0;
  for (const Windows::Window& window : windows.windows) {
    if (!std::ranges::binary_search(steps, window.step)) continue;
    const bool is_mean = window.micro.size() > 1 && std::abs(window.Share() - 1) <= bound;
    if (!is_mean) return false;
    ++parted;
  }
  return parted > 0;
}

Finding WindowFinding(Severity severity, std::string message,
                      const std::vector<const Windows::Window*>& windows, double measured,
                      double bound) {
  return {.severity = severity,
          .message = std::move(message),
          .places = {{.thing = "loss", .file = ""}},
          .first_step = windows.front()->step,
          .last_step = windows.back()->step,
          .count = static_cast<int64_t>(windows.size()),
          .measured = measured,
          .bound = bound};
}

std::string Described(const std::vector<const Windows::Window*>& windows) {
  size_t least = windows.front()->micro.size(), most = least;
  for (const Windows::Window* window : windows) {
    least = std::min(least, window->micro.size());
    most = std::max(most, window->micro.size());
  }
  return StrCat(Counted(static_cast<int64_t>(windows.size()), "accumulation window"), " of ",
                least == most ? "" : StrCat(least, " to "), most, " micro-batch",
                most == 1 ? "" : "es");
}

SortedWindows Sorted(const Windows& windows, size_t least, double tolerance) {
  SortedWindows sorted;
  for (const Windows::Window& window : windows.windows) {
    if (window.micro.size() < least || window.cleared_inside) continue;
    sorted[DivisionOf(window, windows.full, tolerance)].push_back(&window);
  }
  return sorted;
}

absl::Status IsAWindowQuestion(const Windows& windows) {
  if (windows.full < 2) {
    return absl::FailedPreconditionError("no step took more than one micro-batch");
  }
  if (windows.interleaved) {
    return absl::FailedPreconditionError(
        "several optimizers take turns, and each may have its own accumulation windows and losses");
  }
  if (!windows.declared.empty() && windows.declared != "mean") {
    return absl::FailedPreconditionError(
        StrCat("the program declares its accumulation as '", windows.declared, "'"));
  }
  return absl::OkStatus();
}

absl::Status UnknownDivision(int64_t unknown, int64_t windows) {
  return absl::FailedPreconditionError(
      StrCat("in ", unknown, " of ", Counted(windows, "accumulation window"),
             " the losses are not the plain mean over their targets, divided by a known number"));
}

}  // namespace dlcheck
