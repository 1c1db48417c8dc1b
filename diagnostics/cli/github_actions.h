// What a run says by itself to GitHub Actions.
#pragma once

#include "diagnostics/render/render.h"

namespace dlcheck::cli {

// Where GITHUB_ACTIONS is "true": prints annotations on standard error, unless the user asked for
// them (`annotated`), and adds the Markdown summary to the file GITHUB_STEP_SUMMARY. Says so.
void ReportToGithubActions(const Report& report, const Frame& frame, bool annotated);

}  // namespace dlcheck::cli
