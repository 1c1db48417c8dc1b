#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/decayed_parameters.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kDecay{.name = "decay",
                         .value = 0.02,
                         .low = 0,
                         .high = 10,
                         .unit = "1",
                         .meaning = "smallest weight decay that is worth a note",
                         .source =
                             "own reasoning: 1e-4 on all parameters is the usual recipe of image "
                             "classifiers, and 0.01 what AdamW takes if nothing is said"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const DecayedParameters& decayed) {
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(decayed.groups.size()), "group") +
                            " with weight decay"};
  std::vector<std::string> groups, norms;
  size_t biases = 0;
  double largest = 0;
  for (const DecayedParameters::Group& group : decayed.groups) {
    if (group.decay < settings[kDecay] || group.norms.empty()) continue;
    groups.push_back(group.name);
    norms.insert(norms.end(), group.norms.begin(), group.norms.end());
    biases += group.biases.size();
    largest = std::max(largest, group.decay);
  }
  if (groups.empty()) return verdict;
  std::vector<Place> places;
  for (const std::string& name : groups) places.push_back({.thing = name, .file = ""});
  const auto count = static_cast<int64_t>(norms.size());
  verdict.findings.push_back(
      {.severity = Severity::kNote,
       .message = StrCat(Counted(count, "parameter"), " of normalisation layers (", Listed(norms),
                         ") and ", biases, " biases in ", Listed(groups),
                         " decay towards zero, with a weight decay of ", Short(largest), "."),
       .places = std::move(places),
       .first_step = 0,
       .last_step = 0,
       .count = count,
       .measured = largest,
       .bound = settings[kDecay]});
  return verdict;
}

Evidence Decaying(std::string_view decay, std::string_view role) {
  RunBuilder run = TwoLayers();
  run.Attribute("module", "trunk", "role", role);
  run.Attribute("group", "optimizer#0/group#0", "weight_decay", decay);
  for (int step = 0; step < 4; ++step) AddStep(run, {.held = {}});
  return PlainOnly(run);
}

}  // namespace

Check WeightDecayOnNorms() {
  return {
      .id = "optimizer/weight_decay_on_norms",
      .promise = "Weight decay leaves out the scales of normalisation layers.",
      .why =
          "Decay pulls a scale towards zero, where it takes the layer's output with it; it does "
          "not make the function simpler, as it does for matrices.",
      .method =
          "The weight decay of each group, against the layers that the group's parameters belong "
          "to.",
      .fix =
          "Give two groups to the optimizer: matrices with weight decay; biases and the parameters "
          "of normalisation layers with weight_decay=0.",
      .limits =
          "A note: many recipes decay everything, and lose little. Below 0.02 nothing is said. "
          "Layers are known by their class.",
      .sources = {"Fast-LLM issues 542 and 545", "own reasoning"},
      .covers = {"O05"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kDecay},
      .judgement = Reads<&Judge>(),
      .examples = {{"matrices alone", Expect::kClean, [] { return Decaying("0.1", ""); }},
                   {"a normalisation layer too", Expect::kFaulty,
                    [] { return Decaying("0.1", "normalisation"); }},
                   {"with the decay that AdamW takes by itself", Expect::kClean,
                    [] { return Decaying("0.01", "normalisation"); }}},
  };
}

}  // namespace dlcheck::optimizer
