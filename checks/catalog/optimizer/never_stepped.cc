#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/unstepped.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kClears{.name = "clears",
                          .value = 16,
                          .low = 1,
                          .high = 1e9,
                          .unit = "calls",
                          .meaning = "calls of zero_grad without a step that count",
                          .source = "own reasoning: a window of micro-batches clears once"};

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
         .message = StrCat("The gradients of ", optimizer.name, " were cleared ", optimizer.cleared,
                           " times, backward was called ", unstepped.backwards,
                           " times, and it never made a step: what it holds stays as it began."),
         .places = std::move(places),
         .first_step = 0,
         .last_step = 0,
         .count = optimizer.cleared,
         .measured = static_cast<double>(optimizer.cleared),
         .bound = settings[kClears]});
  }
  return verdict;
}

// An optimizer that is cleared so often, beside one that steps; its parameters may change
// nevertheless.
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
      .promise = "An optimizer whose gradients are cleared again and again also steps.",
      .why = "Without optimizer.step() nothing of it is trained, and nothing says so.",
      .method =
          "The calls of zero_grad of each optimizer against its calls of step, over the whole run; "
          "and "
          "in sampled calls, whether its first parameters are what they were at the first.",
      .fix = "Call optimizer.step() after backward, of every optimizer, or take the optimizer out.",
      .limits =
          "Optimizers that are never cleared themselves, as where model.zero_grad() is called, are "
          "not judged; nor are those whose parameters change nevertheless, as by an optimizer that "
          "they wrap, or by hand.",
      .sources = {"PyTorch documentation of torch.optim: taking an optimization step",
                  "own reasoning"},
      .covers = {"O02"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {kClears},
      .judgement = Reads<&Judge>(),
      .examples = {{"cleared fifteen times and never stepped", Expect::kClean,
                    [] { return ClearedBeside(15); }},
                   {"sixteen times, around another that steps", Expect::kClean,
                    [] { return ClearedBeside(16, true); }},
                   {"sixteen times", Expect::kFaulty, [] { return ClearedBeside(16); }}},
  };
}

}  // namespace dlcheck::optimizer
