#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizer/unstepped.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kClears{.name = "clears",
                          .value = 16,
                          .low = 1,
                          .high = 1e9,
                          .unit = "calls",
                          .meaning = "fewest zero_grad() calls without a step",
                          .source = "own reasoning: an accumulation window zeroes gradients once"};

// The weights are looked at twice before it is said that nothing moved them.
constexpr int64_t kWaiting = 32;

std::string WhatWasDone(const Unstepped::Optimizer& optimizer) {
  if (optimizer.cleared == 0) return "its parameters had gradients";
  return StrCat("its gradients were zeroed ", Counted(optimizer.cleared, "time"));
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Unstepped& unstepped) {
  const auto idle = static_cast<int64_t>(unstepped.optimizers.size());
  const int64_t optimizers = idle + unstepped.stepped + unstepped.moved_otherwise;
  Verdict verdict{.findings = {}, .judged = Counted(optimizers, "optimizer")};
  if (static_cast<double>(unstepped.backwards) < settings[kClears]) return verdict;
  for (const Unstepped::Optimizer& optimizer : unstepped.optimizers) {
    const bool waits = optimizer.waiting >= kWaiting;
    if (static_cast<double>(optimizer.cleared) < settings[kClears] && !waits) continue;
    const bool nothing_steps = unstepped.stepped == 0 && unstepped.moved_otherwise == 0;
    std::vector<Place> places = {{.thing = optimizer.name, .file = ""}};
    if (optimizer.site.line > 0) {
      places.push_back({.thing = "", .file = optimizer.site.file, .line = optimizer.site.line});
    }
    verdict.findings.push_back(
        {.severity = nothing_steps && waits ? Severity::kError : Severity::kWarning,
         .message = StrCat(optimizer.name, " never stepped, although ", WhatWasDone(optimizer),
                           " and backward() was called ", unstepped.backwards,
                           " times. Its parameters keep their initial values."),
         .places = std::move(places),
         .first_step = 0,
         .last_step = 0,
         .count = std::max(optimizer.cleared, optimizer.waiting),
         .measured = static_cast<double>(std::max(optimizer.cleared, optimizer.waiting)),
         .bound = settings[kClears]});
  }
  return verdict;
}

// An optimizer whose gradients are zeroed so often, beside one that steps; its parameters may
// change.
Evidence ClearedBeside(int times, bool moves = false) {
  RunBuilder run = TwoLayers();
  if (moves) run.Attribute("optimizer", "optimizer#1", "moved_otherwise", "1");
  for (int step = 0; step < times; ++step) {
    run.Event(Event::kCleared, 0, "optimizer", "optimizer#1");
    AddStep(run, {.held = {}});
  }
  for (int step = times; step < 20; ++step) AddStep(run, {.held = {}});
  return PlainOnly(run);
}

// An optimizer that nobody asks for a step, nor to zero its gradients; its parameters may change.
Evidence Waiting(int backwards, bool moves = false) {
  RunBuilder run = TwoLayers();
  run.Attribute("optimizer", "optimizer#0", "waiting", StrCat(backwards));
  if (moves) run.Attribute("optimizer", "optimizer#0", "moved_otherwise", "1");
  for (int i = 0; i < backwards; ++i) run.Event(Event::kBackward, 0, "loss", "cross_entropy");
  return PlainOnly(run);
}

}  // namespace

Check NeverStepped() {
  return {
      .id = "optimizer/never_stepped",
      .title = "optimizer.step() is never called",
      .promise = "An optimizer whose parameters get gradients also steps.",
      .why =
          "Without optimizer.step(), its parameters are never trained, and PyTorch raises no "
          "error.",
      .method =
          "Compares the zero_grad() calls of each optimizer with its step() calls over the whole "
          "run. Until the first step of the program, also looks for optimizers whose parameters "
          "have gradients. Both check that the optimizer's first parameters have not changed.",
      .fix =
          "Call optimizer.step() after backward() for every optimizer, or remove the unused "
          "optimizer.",
      .limits = {.needs =
                     "Sixteen zero_grad() calls on the optimizer, or 32 backward() calls without a "
                     "step of any optimizer.",
                 .silent_when =
                     "The parameters still change, by hand or through another optimizer that "
                     "this one wraps.",
                 .severity = "Error if no optimizer of the program steps, else a warning.",
                 .blind_spots =
                     "An optimizer beside one that steps is seen only by its own zero_grad().",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward())",
                 .good = R"(for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step())"},
      .cpp = {.bad = R"(for (auto& batch : *loader) {
  optimizer.zero_grad();
  criterion(model->forward(batch.data), batch.target).backward();
})",
              .good = R"(for (auto& batch : *loader) {
  optimizer.zero_grad();
  criterion(model->forward(batch.data), batch.target).backward();
  optimizer.step();
})"},
      .sources = {"PyTorch documentation of torch.optim: taking an optimization step",
                  "own reasoning"},
      .covers = {"wrong-number-of-steps", "wrong-network-stepped"},
      .explains = {"learnability/no_better_than_constant"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kOptimizerBuilt,
      .also_at = {Event::kBackward},
      .settings = {kClears},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"zeroed fifteen times and never stepped", Expect::kClean,
            [] { return ClearedBeside(15); }},
           {"zeroed sixteen times, as the wrapper of an optimizer that steps", Expect::kClean,
            [] { return ClearedBeside(16, true); }},
           {"zeroed sixteen times and never stepped", Expect::kWarning,
            [] { return ClearedBeside(16); }},
           {"thirty-one backward calls and no step", Expect::kClean, [] { return Waiting(31); }},
           {"thirty-two backward calls and no step", Expect::kError, [] { return Waiting(32); }},
           {"the same, but weights move", Expect::kClean, [] { return Waiting(32, true); }}},
  };
}

}  // namespace dlcheck::optimizer
