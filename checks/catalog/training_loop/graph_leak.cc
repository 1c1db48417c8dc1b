#include <algorithm>

#include "checks/catalog/examples/graph_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss/graphs.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 32,
                         .low = 4,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps over which the number of graphs grows",
                         .source = "own reasoning: losses kept for logging span fewer steps"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const LiveGraphs& graphs) {
  Verdict verdict{.findings = {}, .judged = Counted(graphs.judged, "sampled step")};
  const LiveGraphs::Row& row = graphs.growing;
  const bool grows = static_cast<double>(row.steps) >= settings[kSteps] &&
                     row.last - row.first >= settings[kSteps] - 1;
  if (!grows) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kWarning,
       .message =
           StrCat("The autograd graphs of ", Short(row.last),
                  " backward calls were still alive after step ", row.last_step, ", up from ",
                  Short(row.first), " after step ", row.first_step, ": nearly every graph of ",
                  Counted(row.steps, "sampled step"), " stayed in memory."),
       .places = PlacesOf(*graphs.trace, row.site),
       .first_step = row.first_step,
       .last_step = row.last_step,
       .count = row.steps,
       .measured = row.last,
       .bound = 0});
  return verdict;
}

}  // namespace

Check GraphLeak() {
  return {
      .id = "training_loop/graph_leak",
      .title = "Autograd graphs of past steps stay in memory",
      .promise = "The autograd graph of a backward call is freed at the end of its step.",
      .why = "Memory grows at every step until the program slows down or runs out of memory.",
      .method =
          "Counts the autograd graphs of earlier backward calls that are still alive at the end of "
          "each sampled step. A leak keeps at least nine in ten graphs, and the count never falls "
          "through 32 sampled steps.",
      .fix =
          "Accumulate loss.item() or loss.detach() instead of the loss tensor. Call detach() on "
          "outputs collected for a metric and on hidden states carried to the next step.",
      .limits = {.needs = "At least 32 sampled steps in a row.",
                 .silent_when = "Graphs are kept for a few steps only.",
                 .severity = "",
                 .blind_spots = "If all graphs are freed at the end of an epoch, a leak is found "
                                "only in long epochs.",
                 .sensitivity = ""},
      .python = {.bad = R"(total_loss = 0
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    total_loss += loss)",
                 .good = R"(total_loss = 0
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    total_loss += loss.item())"},
      .cpp = {.bad = R"(torch::Tensor total = torch::zeros({});
for (auto& batch : *loader) {
  auto loss = train_step(model, batch);
  total += loss;
})",
              .good = R"(double total = 0;
for (auto& batch : *loader) {
  auto loss = train_step(model, batch);
  total += loss.item<double>();
})"},
      .sources = {"PyTorch FAQ: my model reports cuda runtime error, out of memory"},
      .covers = {"graph-kept-in-evaluation"},
      .explains = {"performance/memory_growth"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"the last ten graphs stay alive", Expect::kClean,
                    [] {
                      return WithGraphs({.alive = [](int step) { return std::min(step + 1, 10); }});
                    }},
                   {"every graph stays alive", Expect::kWarning,
                    [] { return WithGraphs({.alive = [](int step) { return step + 1; }}); }},
                   {"every graph stays alive for sixteen steps at a time", Expect::kClean,
                    [] { return WithGraphs({.alive = [](int step) { return step % 16 + 1; }}); }},
                   {"every graph stays alive until an epoch of 40 steps ends", Expect::kWarning,
                    [] { return WithGraphs({.alive = [](int step) { return step % 40 + 1; }}); }}},
  };
}

}  // namespace dlcheck::training_loop
