// Which series shows a finding: the figure beside it is drawn only if it does.
#pragma once

#include <optional>

#include "checks/engine/check.h"
#include "diagnostics/render/html/plot.h"

namespace dlcheck::html {

// Nothing if no series of the run shows this finding. `id`: of the figure in the page.
std::optional<Plot> ProofOf(const Check& check, const Finding& finding, const SeriesOfRun& run,
                            const std::string& id);

}  // namespace dlcheck::html
