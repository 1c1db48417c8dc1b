#include <algorithm>

#include "checks/catalog/graph_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/graphs.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 32,
                         .low = 4,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps through which the number of graphs has to grow",
                         .source = "own reasoning: windows of losses for a log are shorter"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const LiveGraphs& graphs) {
  Verdict verdict{.findings = {}, .judged = Counted(graphs.judged, "sampled step")};
  const LiveGraphs::Row& row = graphs.growing;
  const bool grows = static_cast<double>(row.steps) >= settings[kSteps] &&
                     row.last - row.first >= settings[kSteps] - 1;
  if (!grows) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kWarning,
       .message =
           StrCat("The graphs of ", Short(row.last), " backward calls were still alive after step ",
                  row.last_step, ", up from ", Short(row.first), " after step ", row.first_step,
                  ": nearly every graph of the ", Counted(row.steps, "sampled step"),
                  " is kept, and memory grows with it."),
       .places = {},
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
      .promise = "The graph of a backward call is free once its step is over.",
      .why = "Memory grows at every step, until the program is slow or is killed.",
      .method =
          "How many graphs of earlier backward calls live as each sampled step ends: nine in ten "
          "or more, and never fewer than before, through 32 sampled steps.",
      .fix =
          "Add up loss.item() or loss.detach(), not the loss itself; detach outputs that are "
          "collected for a metric, and hidden states that are carried on.",
      .limits =
          "Graphs that are kept for a few steps are clean. Where all are let go at the end of an "
          "epoch it is still found, if the epoch is long enough.",
      .sources = {"PyTorch FAQ: my model reports cuda runtime error, out of memory"},
      .covers = {"P03"},
      .explains = {"performance/memory_growth"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"a window of the last ten", Expect::kClean,
                    [] {
                      return WithGraphs({.alive = [](int step) { return std::min(step + 1, 10); }});
                    }},
                   {"every one", Expect::kFaulty,
                    [] { return WithGraphs({.alive = [](int step) { return step + 1; }}); }},
                   {"every one, for sixteen steps at a time", Expect::kClean,
                    [] { return WithGraphs({.alive = [](int step) { return step % 16 + 1; }}); }},
                   {"every one, until an epoch of 40 steps ends", Expect::kFaulty,
                    [] { return WithGraphs({.alive = [](int step) { return step % 40 + 1; }}); }}},
  };
}

}  // namespace dlcheck::training_loop
