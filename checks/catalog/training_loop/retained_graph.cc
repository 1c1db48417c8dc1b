#include "checks/catalog/examples/graph_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss/graphs.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps with backward calls for a finding",
                         .source = "own reasoning: all calls of all these steps must agree"};
constexpr Setting kGrowing{.name = "growing",
                           .value = 32,
                           .low = 4,
                           .high = 1e6,
                           .unit = "sampled steps",
                           .meaning = "steps over which live graphs grow for a warning",
                           .source = "own reasoning: losses kept for logging span fewer steps"};

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
       .message = StrCat("All ", Counted(calls.calls, "backward call"), " in ",
                         Counted(calls.steps, "sampled step"),
                         ", including the last of each step, retained the graph",
                         grows ? StrCat(", and the number of live graphs grew to ",
                                        Short(graphs->growing.last), ".")
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
      .title = "backward() always retains the graph",
      .promise = "The last backward call of a step frees its autograd graph.",
      .why =
          "Buffers of the forward stay in memory until the graph is freed. If retain_graph=True "
          "hides an error of a second backward, gradients also flow into earlier steps.",
      .method =
          "Records the arguments of each backward call in sampled steps. All calls use "
          "retain_graph=True, and none uses create_graph=True.",
      .fix =
          "Remove retain_graph=True from the last backward() of a step. Call detach() on tensors "
          "carried from step to step.",
      .limits =
          {.needs = "Eight sampled steps with backward calls.",
           .silent_when =
               "One backward call does not retain the graph, such as the second of two losses.",
           .severity = "Note, because it may be intentional. Warning if the number of live graphs "
                       "also grows.",
           .blind_spots = "",
           .sensitivity = ""},
      .python = {.bad = R"(optimizer.zero_grad()
loss_a.backward(retain_graph=True)
loss_b.backward(retain_graph=True)
optimizer.step())",
                 .good = R"(optimizer.zero_grad()
loss_a.backward(retain_graph=True)
loss_b.backward()
optimizer.step())"},
      .cpp = {.bad = R"(optimizer.zero_grad();
loss_a.backward({}, /*retain_graph=*/true);
loss_b.backward({}, /*retain_graph=*/true);
optimizer.step();)",
              .good = R"(optimizer.zero_grad();
loss_a.backward({}, /*retain_graph=*/true);
loss_b.backward();
optimizer.step();)"},
      .sources = {"PyTorch documentation of Tensor.backward: retain_graph"},
      .covers = {"graph-kept-in-evaluation"},
      .explains = {"training_loop/graph_leak"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kSteps, kGrowing},
      .judgement = Reads<&Judge>(),
      .examples = {{"only the first of two losses retains its graph", Expect::kClean,
                    [] { return Retaining(false); }},
                   {"both losses retain their graphs", Expect::kNote,
                    [] { return Retaining(true); }},
                   {"both retain their graphs, and the graphs stay alive", Expect::kWarning,
                    [] { return Retaining(true, true); }}},
  };
}

}  // namespace dlcheck::training_loop
