#include <algorithm>
#include <set>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/clearing.h"

namespace dlcheck::optimizer {
namespace {

std::string Message(const Clearing& clearing, int64_t updates,
                    const std::set<std::string>& parameters) {
  const Clearing::Stale& first = clearing.stale.front();
  const Clearing::Stale& last = clearing.stale.back();
  // A gap counts without norms.
  const auto measured = std::find_if(clearing.stale.rbegin(), clearing.stale.rend(),
                                     [](const Clearing::Stale& stale) { return stale.norm > 0; });
  if (parameters.empty()) {
    return StrCat("Gradients were not cleared before ", Counted(updates, "update"),
                  " between steps ", first.step, " and ", last.last_step,
                  ": they still held, unchanged, what the update before had consumed.");
  }
  std::string message =
      StrCat("Gradients are not cleared between steps: at the first backward after each of ",
             Counted(updates, "update"), ", ", parameters.size(), " of ", clearing.parameters,
             " gradients still held what that update had consumed");
  if (first.norm > 0) StrAppend(&message, " (norm ", Short(first.norm), " at step ", first.step);
  if (first.norm > 0 && measured->step != first.step) {
    StrAppend(&message, ", ", Short(measured->norm), " at step ", measured->step);
  }
  if (first.norm > 0) message += ")";
  return message + ".";
}

absl::StatusOr<Verdict> Judge(const Settings&, const Clearing& clearing) {
  Verdict verdict{.findings = {},
                  .judged = StrCat(Counted(clearing.parameters, "parameter"), ", ",
                                   Counted(clearing.updates_judged, "update"))};
  if (clearing.stale.empty()) return verdict;
  int64_t updates = 0;
  std::set<std::string> parameters;
  for (const Clearing::Stale& stale : clearing.stale) {
    updates += stale.updates;
    parameters.insert(stale.parameters.begin(), stale.parameters.end());
  }
  std::vector<Place> places;
  if (clearing.backward_site.line > 0) {
    places.push_back(
        {.thing = "", .file = clearing.backward_site.file, .line = clearing.backward_site.line});
  }
  for (const std::string& name : parameters) places.push_back({.thing = name, .file = ""});
  verdict.findings.push_back({.severity = Severity::kError,
                              .message = Message(clearing, updates, parameters),
                              .places = std::move(places),
                              .first_step = clearing.stale.front().step,
                              .last_step = clearing.stale.back().last_step,
                              .count = updates,
                              .measured = static_cast<double>(updates),
                              .bound = 0});
  return verdict;
}

// Both gradients hold `held` before the first backward of the last step, after consuming 0.5 each.
Evidence Holding(double held, bool uncleared) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 4; ++step) {
    const bool last = step == 3;
    AddStep(run, {.trunk_gradient = 0.5,
                  .head_gradient = 0.5,
                  .held = last ? std::optional<double>(held) : std::nullopt,
                  .uncleared = last && uncleared});
  }
  return PlainOnly(run);
}

Evidence GapWith(double uncleared) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 4; ++step) AddStep(run, {.held = {}});
  run.Gap(Event::kCleared, 99, 96 - uncleared).Gap(Event::kStep, 99, 96);
  if (uncleared > 0) run.Gap(Event::kUncleared, 99, uncleared);
  run.Resume(100);
  AddStep(run, {.held = {}});
  return PlainOnly(run);
}

}  // namespace

Check StaleGradients() {
  return {
      .id = "optimizer/stale_gradients",
      .promise =
          "Before the first backward after an update, no gradient still holds what that "
          "update consumed.",
      .why =
          "The update uses the sum of all gradients since the start, so the effective step grows "
          "with time and points into the past.",
      .method =
          "Norm of every gradient before the first backward of a step, against the norm that "
          "the update before consumed: equal, not zero, and still so when the step consumes it, "
          "means that nothing cleared it. "
          "Between sampled steps probes count the same by object and version.",
      .fix = "Call optimizer.zero_grad() before loss.backward() in every step.",
      .limits =
          "A gradient that is scaled down instead of cleared is not stale. What is cleared "
          "later, but before its own backward, as in a GAN, is clean.",
      .sources = {"PyTorch documentation of Optimizer.zero_grad",
                  "own reasoning: the gradient is looked at, not the call"},
      .covers = {"O01"},
      .explains = {"gradients/exploding", "numerics/nonfinite_values"},
      .worst = Severity::kError,
      .live = true,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a zeroed gradient", Expect::kClean, [] { return Holding(0.0, false); }},
                   {"a halved gradient", Expect::kClean, [] { return Holding(0.25, false); }},
                   {"held through another model's backward, then cleared", Expect::kClean,
                    [] { return Holding(0.5, false); }},
                   {"the gradient that was consumed", Expect::kFaulty,
                    [] { return Holding(0.5, true); }},
                   {"a gap in which all was cleared", Expect::kClean, [] { return GapWith(0); }},
                   {"a gap with one missed clearing", Expect::kFaulty, [] { return GapWith(1); }}},
  };
}

}  // namespace dlcheck::optimizer
