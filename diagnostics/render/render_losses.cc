#include "diagnostics/render/render_losses.h"

#include <algorithm>

#include "checks/engine/text.h"
#include "checks/records/visible.h"
#include "diagnostics/render/layout.h"

namespace dlcheck {
namespace {

constexpr size_t kMostLosses = 4;  // of a kind that the text lists

std::string LossRow(const RunSummary& run, std::string_view how, const std::string& what) {
  const std::string of = run.experiment == kPlain ? "" : StrCat(" of ", Describe(run.experiment));
  return Row("", StrCat("records", of, " ", how, ": ", what));
}

}  // namespace

std::string RenderRecording(const Recording& recording) {
  std::string text;
  for (const std::string& gap : recording.gaps) StrAppend(&text, "dlcheck  ", Visible(gap), "\n");
  if (!recording.rejected.empty()) {
    StrAppend(&text, "dlcheck: input rejected: ", Visible(recording.rejected), "\n");
  }
  return text;
}

std::string RenderLosses(const Report& report) {
  std::string text;
  for (const RunSummary& run : report.runs) {
    const Losses& losses = run.losses;
    const size_t most = kMostLosses;
    for (size_t i = 0; i < std::min(most, losses.damaged.size()); ++i) {
      text += LossRow(run, "damaged", losses.damaged[i]);
    }
    for (size_t i = 0; i < std::min(most, losses.missing.size()); ++i) {
      text += LossRow(run, "not complete", losses.missing[i]);
    }
    const size_t all = losses.damaged.size() + losses.missing.size();
    if (all > 2 * most) text += Row("", StrCat("and more; result.json lists all ", all));
  }
  return text;
}

}  // namespace dlcheck
