#include "checks/catalog/graph_runs.h"
#include "checks/catalog/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/graphs.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps with backward calls that a finding rests on",
                         .source = "own reasoning: all calls of all of them have to agree"};
constexpr Setting kGrowing{.name = "growing",
                           .value = 32,
                           .low = 4,
                           .high = 1e6,
                           .unit = "sampled steps",
                           .meaning = "steps through which live graphs grow, to be a warning",
                           .source = "own reasoning: windows of losses for a log are shorter"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const BackwardCalls& calls,
                              const IfSeen<LiveGraphs>& graphs) {
  Verdict verdict{.findings = {},
                  .judged = StrCat(Counted(calls.calls, "backward call"), ", ",
                                   Counted(calls.steps, "sampled step"))};
  if (calls.retaining < calls.calls || static_cast<double>(calls.steps) < settings[kSteps]) {
    return verdict;
  }
  const bool grows = graphs && static_cast<double>(graphs->growing.steps) >= settings[kGrowing] &&
                     graphs->growing.last > graphs->growing.first;
  verdict.findings.push_back(
      {.severity = grows ? Severity::kWarning : Severity::kNote,
       .message = StrCat(
           "All ", Counted(calls.calls, "backward call"), " of ",
           Counted(calls.steps, "sampled step"),
           ", the last of each step among them, asked to retain the graph",
           grows ? StrCat(", and the graphs alive grew to ", Short(graphs->growing.last), ".")
                 : std::string(".")),
       .places = PlacesOf(*calls.trace, calls.site),
       .first_step = calls.first_step,
       .last_step = calls.last_step,
       .count = calls.calls,
       .measured = static_cast<double>(calls.retaining),
       .bound = 0});
  return verdict;
}

Evidence Retaining(bool last, bool grows = false) {
  return WithGraphs({.alive = [grows](int step) { return grows ? step + 1 : 0; },
                     .retains = true,
                     .retains_last = last});
}

}  // namespace

Check RetainedGraph() {
  return {
      .id = "training_loop/retained_graph",
      .promise = "The last backward call of a step lets its graph go.",
      .why =
          "Buffers of the forward live until the graph is dropped. Where retain_graph silences "
          "the error of a second backward, gradients also run into earlier steps.",
      .method =
          "What each backward call of the sampled steps was asked: all of them to retain the "
          "graph, and none for a graph of the gradients.",
      .fix =
          "Leave out retain_graph=True in the last backward of a step; detach what is carried from "
          "step to step.",
      .limits =
          "A note, as it may be meant, and a warning where the number of live graphs grows too. "
          "One call without it, as the second of two losses has, makes it clean.",
      .sources = {"PyTorch documentation of Tensor.backward: retain_graph"},
      .covers = {"P03"},
      .explains = {"training_loop/graph_leak"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kSteps, kGrowing},
      .judgement = Reads<&Judge>(),
      .examples = {{"the first of two losses", Expect::kClean, [] { return Retaining(false); }},
                   {"both", Expect::kFaulty, [] { return Retaining(true); }},
                   {"both, and graphs stay alive", Expect::kFaulty,
                    [] { return Retaining(true, true); }}},
  };
}

}  // namespace dlcheck::training_loop
