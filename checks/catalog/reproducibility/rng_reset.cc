#include <map>
#include <utility>
#include <vector>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/drawn_states.h"

namespace dlcheck::reproducibility {
namespace {

constexpr Setting kTimes{.name = "times",
                         .value = 3,
                         .low = 2,
                         .high = 1e6,
                         .unit = "steps",
                         .meaning = "fewest steps that drew the same random numbers",
                         .source = "own reasoning: one repeated step may follow an interruption"};

// Equal numbers at every step are intentional: the loss is a fixed function of the weights.
bool AtEveryStep(const std::vector<int64_t>& steps) {
  return steps.back() - steps.front() + 1 == static_cast<int64_t>(steps.size());
}

std::vector<Place> PlacesOf(const DrawnStates& drawn) {
  if (drawn.site.line <= 0) return {};
  return {{.thing = "", .file = drawn.site.file, .line = drawn.site.line}};
}

// One finding of each severity, about the state that came most often: an epoch has as many as it
// has steps.
absl::StatusOr<Verdict> Judge(const Settings& settings, const DrawnStates& drawn) {
  Verdict verdict{.findings = {}, .judged = Counted(drawn.seeds, "seed")};
  std::map<Severity, std::pair<const std::vector<int64_t>*, int64_t>> most;  // steps, states
  for (const auto& [state, steps] : drawn.steps) {
    if (static_cast<double>(steps.size()) < settings[kTimes]) continue;
    auto& [of, states] = most[AtEveryStep(steps) ? Severity::kNote : Severity::kWarning];
    if (of == nullptr || steps.size() > of->size()) of = &steps;
    ++states;
  }
  for (const auto& [severity, found] : most) {
    const std::vector<int64_t>& steps = *found.first;
    const std::string others =
        found.second > 1 ? StrCat(", and so on for ", found.second - 1, " other states") : "";
    verdict.findings.push_back(
        {.severity = severity,
         .message =
             StrCat("Training drew the same random numbers at ",
                    Counted(static_cast<int64_t>(steps.size()), "step"), ", including ", steps[0],
                    " and ", steps[1], others,
                    ", because torch.manual_seed() set the same seed before each of these steps."),
         .places = PlacesOf(drawn),
         .first_step = steps.front(),
         .last_step = steps.back(),
         .count = static_cast<int64_t>(steps.size()),
         .measured = static_cast<double>(steps.size()),
         .bound = settings[kTimes]});
  }
  return verdict;
}

// A seed every `apart` steps, with these digests.
Evidence Seeded(const std::vector<double>& digests, int apart) {
  RunBuilder run = TwoLayers();
  for (size_t i = 0; i < digests.size(); ++i) {
    for (int step = 0; step < apart; ++step) {
      if (step == 0) run.Quantity(Quantity::kDrawnState, "generator", "torch", digests[i], 7);
      AddStep(run, {.held = {}});
    }
  }
  return PlainOnly(run);
}

}  // namespace

Check RngReset() {
  return {
      .id = "reproducibility/rng_reset",
      .title = "manual_seed() is called again during training",
      .promise = "Training draws new random numbers in every epoch.",
      .why =
          "Setting the same seed in every epoch repeats the data order, the augmentation and the "
          "dropout masks. The model sees the same epoch again and again.",
      .method =
          "Compares the RNG states of the CPU and of CUDA devices at the first optimizer step "
          "after each torch.manual_seed() "
          "call. Only steps that drew random numbers without restoring the state count.",
      .fix =
          "Call torch.manual_seed() once, before building the model. For a repeatable evaluation, "
          "use a separate torch.Generator or torch.random.fork_rng().",
      .limits =
          {.needs = "Three steps that drew the same random numbers.",
           .silent_when = "",
           .severity =
               "Warning; note if every step draws the same numbers, which may be intentional.",
           .blind_spots =
               "Only the first 2,048 calls are recorded. Random numbers of NumPy, Python "
               "and accelerators are not compared.",
           .sensitivity = ""},
      .python = {.bad = R"(for epoch in range(epochs):
    torch.manual_seed(0)
    for x, y in loader:
        train_step(model, optimizer, x, y))",
                 .good = R"(torch.manual_seed(0)
for epoch in range(epochs):
    for x, y in loader:
        train_step(model, optimizer, x, y))"},
      .cpp = {.bad = R"(for (int epoch = 0; epoch < epochs; ++epoch) {
  torch::manual_seed(0);
  TrainOneEpoch(model, *loader, optimizer);
})",
              .good = R"(torch::manual_seed(0);
for (int epoch = 0; epoch < epochs; ++epoch) {
  TrainOneEpoch(model, *loader, optimizer);
})"},
      .sources = {"PyTorch documentation: reproducibility", "own reasoning: exact"},
      .covers = {"random-state-reset", "same-dropout-in-micro-batches"},
      .explains = {"data/repeated_shuffle"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {kTimes},
      .judgement = Reads<&Judge>(),
      .examples = {{"two of three equal states", Expect::kClean,
                    [] {
                      return Seeded({3, 4, 3}, 4);
                    }},
                   {"three equal states", Expect::kWarning,
                    [] {
                      return Seeded({3, 3, 3}, 4);
                    }},
                   {"equal states at every step", Expect::kNote,
                    [] {
                      return Seeded({3, 3, 3}, 1);
                    }}},
  };
}

}  // namespace dlcheck::reproducibility
