#include <algorithm>
#include <set>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients/clearing.h"

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
    return StrCat("Gradients were not zeroed before ", Counted(updates, "update"),
                  " between steps ", first.step, " and ", last.last_step,
                  ": they still held the unchanged value that the previous update had used.");
  }
  std::string message = StrCat(
      "Gradients are not zeroed between steps: at the first backward after ",
      updates == 1 ? "" : "each of ", Counted(updates, "update"), ", ", parameters.size(), " of ",
      clearing.parameters, " gradients still held the value that this update had used");
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
  // Between these two, in the order in which they run, a call is missing.
  if (clearing.step_site.line > 0 && !places.empty()) {
    places.push_back(
        {.thing = "", .file = clearing.step_site.file, .line = clearing.step_site.line});
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
      .title = "zero_grad() is not called between steps",
      .promise = "Every gradient is zeroed between one optimizer step and the next backward.",
      .why =
          "Each update uses the sum of all gradients since the start. The effective step grows "
          "with time, and its direction is out of date.",
      .method =
          "Compares the norm of every gradient before the first backward of a step with the norm "
          "that the previous step used. An equal, nonzero norm that is still there when the next "
          "step uses the gradient means that nothing zeroed it. Between sampled steps, the probe "
          "compares the gradient's identity and version counter.",
      .fix = "Call optimizer.zero_grad() before loss.backward() in every step.",
      .limits = {.needs = "Two optimizer steps on the same parameters.",
                 .silent_when = "Gradients are scaled down instead of zeroed. Gradients are zeroed "
                                "later, but before their own backward, as in a GAN.",
                 .severity = "",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step())",
                 .good = R"(for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step())"},
      .cpp = {.bad = R"(for (auto& batch : *loader) {
  criterion(model->forward(batch.data), batch.target).backward();
  optimizer.step();
})",
              .good = R"(for (auto& batch : *loader) {
  optimizer.zero_grad();
  criterion(model->forward(batch.data), batch.target).backward();
  optimizer.step();
})"},
      .sources = {"PyTorch documentation of Optimizer.zero_grad",
                  "own reasoning: the gradient is checked, not the call"},
      .covers = {"gradients-not-zeroed", "wrong-network-stepped"},
      .explains = {"gradients/exploding", "numerics/nonfinite_values", "optimizer/growing_weights",
                   "model/dead_relu_units", "learnability/no_better_than_constant"},
      .worst = Severity::kError,
      .live = true,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a zeroed gradient", Expect::kClean, [] { return Holding(0.0, false); }},
                   {"a halved gradient", Expect::kClean, [] { return Holding(0.25, false); }},
                   {"kept through another model's backward, then zeroed", Expect::kClean,
                    [] { return Holding(0.5, false); }},
                   {"the gradient that the last update used", Expect::kError,
                    [] { return Holding(0.5, true); }},
                   {"a gap in which every gradient was zeroed", Expect::kClean,
                    [] { return GapWith(0); }},
                   {"a gap with one missing zero_grad()", Expect::kError,
                    [] { return GapWith(1); }}},
  };
}

}  // namespace dlcheck::optimizer
