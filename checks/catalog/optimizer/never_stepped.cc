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

absl::StatusOr<Verdict> Judge(const Settings& settings, const Unstepped& unstepped) {
  const auto idle = static_cast<int64_t>(unstepped.optimizers.size());
  const int64_t optimizers = idle + unstepped.stepped + unstepped.moved_otherwise;
  Verdict verdict{.findings = {}, .judged = Counted(optimizers, "optimizer")};
  if (static_cast<double>(unstepped.backwards) < settings[kClears]) return verdict;
  for (const Unstepped::Optimizer& optimizer : unstepped.optimizers) {
    if (static_cast<double>(optimizer.cleared) < settings[kClears]) continue;
    std::vector<Place> places = {{.thing = optimizer.name, .file = ""}};
    if (optimizer.site.line > 0) {
      places.push_back({.thing = "", .file = optimizer.site.file, .line = optimizer.site.line});
    }
    verdict.findings.push_back(
        {.severity = Severity::kWarning,
         .message =
             StrCat(optimizer.name, " never stepped, although its gradients were zeroed ",
                    optimizer.cleared, " times and backward() was called ", unstepped.backwards,
                    " times. Its parameters keep their initial values."),
         .places = std::move(places),
         .first_step = 0,
         .last_step = 0,
         .count = optimizer.cleared,
         .measured = static_cast<double>(optimizer.cleared),
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

}  // namespace

Check NeverStepped() {
  return {
      .id = "optimizer/never_stepped",
      .title = "optimizer.step() is never called",
      .promise = "An optimizer whose gradients are zeroed repeatedly also steps.",
      .why =
          "Without optimizer.step(), its parameters are never trained, and PyTorch raises no "
          "error.",
      .method =
          "Compares the zero_grad() calls of each optimizer with its step() calls over the whole "
          "run. Sampled calls also check that the optimizer's first parameters have not changed "
          "since the first call.",
      .fix =
          "Call optimizer.step() after backward() for every optimizer, or remove the unused "
          "optimizer.",
      .limits =
          {.needs = "Sixteen zero_grad() calls on the optimizer.",
           .silent_when =
               "optimizer.zero_grad() is never called, as with model.zero_grad(). The parameters "
               "still change, by hand or through another optimizer that this one wraps.",
           .severity = "",
           .blind_spots = "",
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
      .cpp = {},
      .sources = {"PyTorch documentation of torch.optim: taking an optimization step",
                  "own reasoning"},
      .covers = {"wrong-number-of-steps"},
      .explains = {"learnability/no_better_than_constant"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {kClears},
      .judgement = Reads<&Judge>(),
      .examples = {{"zeroed fifteen times and never stepped", Expect::kClean,
                    [] { return ClearedBeside(15); }},
                   {"zeroed sixteen times, as the wrapper of an optimizer that steps",
                    Expect::kClean, [] { return ClearedBeside(16, true); }},
                   {"zeroed sixteen times and never stepped", Expect::kWarning,
                    [] { return ClearedBeside(16); }}},
  };
}

}  // namespace dlcheck::optimizer
