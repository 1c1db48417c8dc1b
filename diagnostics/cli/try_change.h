// Runs the program with the suggested change, and sees whether the finding is gone.
#pragma once

#include <functional>
#include <optional>

#include "absl/time/time.h"
#include "checks/engine/report.h"
#include "diagnostics/cli/config/choice.h"
#include "diagnostics/cli/output_folder.h"
#include "diagnostics/cli/subject.h"
#include "diagnostics/tried_change.h"

namespace dlcheck::cli {

inline constexpr size_t kMostTrials = 2;

// Tries the change for the first finding that has one. A short run comes first; the whole program
// runs where that is too short for a verdict. The program's own files stay as they are. None where
// no finding has a repair that is known. `on_run` is called before each run. Cost: at most two
// runs, `time` together.
std::optional<TriedChange> TryChange(CommandSubject& subject, const Report& report,
                                     const Evidence& evidence, const Choice& choice,
                                     const OutputFolder& folder, absl::Duration time,
                                     const std::function<void()>& on_run);

}  // namespace dlcheck::cli
