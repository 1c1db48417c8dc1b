// Findings of the checks that rest on a statement of the probe, and runs for their examples.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/check.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck {

inline Verdict NothingStated(const Statements& statements) {
  return {.findings = {}, .judged = Counted(statements.steps, "step")};
}

// At the line of the statement. `thing`: also a parameter, layer or loss to name.
inline Finding StatementFinding(const Statement& statement, Severity severity, std::string message,
                                std::string thing = "") {
  std::vector<Place> places;
  if (!thing.empty()) places.push_back({.thing = std::move(thing), .file = ""});
  if (statement.site.line > 0) {
    places.push_back({.thing = "", .file = statement.site.file, .line = statement.site.line});
  }
  return {.severity = severity,
          .message = std::move(message),
          .places = std::move(places),
          .first_step = statement.first_step,
          .last_step = statement.last_step,
          .count = statement.count,
          .measured = statement.value,
          .bound = 0};
}

// A run of 16 steps in which the probe states this of one thing, `times` times; never if that is 0.
inline Evidence Stating(Quantity quantity, std::string_view kind, std::string_view name,
                        double value, double aux = 0, int times = 1) {
  RunBuilder run = TwoLayers();
  run.Process("python", "3.11");
  for (int step = 0; step < 16; ++step) {
    AddStep(run, {.held = {}});
    if (step < times) run.Quantity(quantity, kind, name, value, aux);
  }
  return PlainOnly(run);
}

}  // namespace dlcheck
