#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizer/decayed_parameters.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kDecay{.name = "decay",
                         .value = 0.02,
                         .low = 0,
                         .high = 10,
                         .unit = "1",
                         .meaning = "smallest weight decay reported",
                         .source =
                             "own reasoning: image classifiers often use 1e-4 on all parameters, "
                             "and the default of AdamW is 0.01"};

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
       .message = StrCat(Counted(count, "parameter"), " of normalization layers (", Listed(norms),
                         ") and ", biases, " biases in ", Listed(groups),
                         " have a weight decay of ", Short(largest), "."),
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
      .title = "Weight decay is applied to norm layers",
      .promise = "Weight decay excludes the scales of normalization layers.",
      .why =
          "Weight decay pulls the scale toward zero and shrinks the layer's output. For matrices "
          "decay simplifies the function; for scales it does not.",
      .method =
          "Compares the weight decay of each parameter group with the layers of the group's "
          "parameters.",
      .fix =
          "Give the optimizer two groups: matrices with weight decay, and biases and normalization "
          "parameters with weight_decay=0.",
      .limits = {.needs = "A parameter group with weight decay of at least 0.02.",
                 .silent_when = "The weight decay is below 0.02.",
                 .severity = "Always a note: many recipes decay all parameters and lose little.",
                 .blind_spots = "Normalization layers are recognized by their class.",
                 .sensitivity = ""},
      .python = {.bad = R"(optimizer = torch.optim.AdamW(
    model.parameters(), lr=1e-3, weight_decay=0.1)
loss.backward()
optimizer.step())",
                 .good = R"(decay = [p for p in model.parameters() if p.ndim >= 2]
no_decay = [p for p in model.parameters() if p.ndim < 2]
optimizer = torch.optim.AdamW(
    [{"params": decay, "weight_decay": 0.1},
     {"params": no_decay, "weight_decay": 0.0}], lr=1e-3))"},
      .cpp = {.bad = R"(auto options = torch::optim::AdamWOptions(1e-3).weight_decay(0.1);
torch::optim::AdamW optimizer(model->parameters(), options);)",
              .good = R"(std::vector<torch::Tensor> matrices, others;
for (auto& p : model->parameters()) (p.dim() > 1 ? matrices : others).push_back(p);
auto options = torch::optim::AdamWOptions(1e-3).weight_decay(0.1);
torch::optim::AdamW optimizer(matrices, options);
options.weight_decay(0);
optimizer.add_param_group({others, std::make_unique<torch::optim::AdamWOptions>(options)});)"},
      .sources = {"Fast-LLM issues 542 and 545", "own reasoning"},
      .covers = {"wrong-weight-decay-group", "weight-decay-on-norm-and-bias"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kOptimizerBuilt,
      .settings = {kDecay},
      .judgement = Reads<&Judge>(),
      .examples = {{"only matrices", Expect::kClean, [] { return Decaying("0.1", ""); }},
                   {"a normalization layer too", Expect::kNote,
                    [] { return Decaying("0.1", "normalization"); }},
                   {"with the default weight decay of AdamW", Expect::kClean,
                    [] { return Decaying("0.01", "normalization"); }}},
  };
}

}  // namespace dlcheck::optimizer
