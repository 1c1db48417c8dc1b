// A small report for tests of renderers, and the comparison of their text with a golden.
// DLCHECK_UPDATE_GOLDENS=1 rewrites the goldens.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "checks/catalog/catalog.h"
#include "diagnostics/render/render.h"

namespace dlcheck {

inline void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(DLCHECK_SOURCE_DIR) + "/tests/golden/render/" + name;
  if (std::getenv("DLCHECK_UPDATE_GOLDENS") != nullptr) std::ofstream(path) << text;
  std::ostringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, golden.str()) << "golden " << path;
}

inline Finding SmallFinding(Severity severity, const std::string& message,
                            std::vector<Place> places) {
  return {.severity = severity,
          .message = message,
          .places = std::move(places),
          .first_step = 1,
          .last_step = 400,
          .count = 399,
          .measured = 399,
          .bound = 0};
}

// A cause, the symptom that it explains, a warning, a pass, and checks without a verdict.
inline Report SmallReport() {
  const auto result = [](std::string_view id, Outcome outcome, const std::string& reason,
                         std::vector<Finding> findings) {
    return Result{FindCheck(id), outcome, reason, {std::move(findings), "4 of 4 parameters"}};
  };
  const std::string odd = "</script><img onerror=x> \xff";
  return {
      .results =
          {
              result("learnability/cannot_overfit_one_batch", Outcome::kNotApplicable,
                     "needs --deep (one batch)", {}),
              result("gradients/exploding", Outcome::kFailed, "",
                     {SmallFinding(Severity::kWarning, "The gradient explodes.", {})}),
              result("gradients/missing", Outcome::kPassed, "", {}),
              result(
                  "gradients/vanishing", Outcome::kFailed, "",
                  {SmallFinding(Severity::kWarning, "Gradients vanish in a name like " + odd + ".",
                                {{.thing = odd, .file = ""}})}),
              result(
                  "optimizer/stale_gradients", Outcome::kFailed, "",
                  {SmallFinding(
                      Severity::kError,
                      "Gradients are not cleared between steps: at the first backward after each "
                      "of 399 updates, 4 of 4 gradients still held what that update had "
                      "consumed (norm 0.392 at step 1).",
                      {{.thing = "", .file = "/home/ada/train.py", .line = 41},
                       {.thing = "fc1.weight", .file = ""}})}),
              result("initialization/wrong_initial_loss", Outcome::kNotSeen, "no outputs were seen",
                     {}),
          },
      .runs = {{kPlain, Ending{Ending::How::kFinished, 0}, ""},
               {kOneBatch, Ending(), "not asked for"}},
      .coverage = {.training = true,
                   .steps = 1407,
                   .sampled_steps = 384,
                   .parameters = 4,
                   .parameters_with_gradient = 4},
  };
}

inline Frame SmallFrame() {
  return {.command = {"python", "train.py"},
          .folder = "/home/ada",
          .result_path = "dlcheck-out/result.json",
          .exit_code = 1,
          .exit_reason = "findings",
          .started = "2000-01-01",
          .wall_seconds = 2};
}

}  // namespace dlcheck
