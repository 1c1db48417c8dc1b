#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/drawn_states.h"

namespace dlcheck::reproducibility {
namespace {

constexpr Setting kTimes{.name = "times",
                         .value = 3,
                         .low = 2,
                         .high = 1e6,
                         .unit = "steps",
                         .meaning = "steps that drew the same random numbers",
                         .source = "own reasoning: one that is taken again may be an interruption"};

// Numbers that are new at no step at all are meant: the loss is to be a function of the weights.
bool AtEveryStep(const std::vector<int64_t>& steps) {
  return steps.back() - steps.front() + 1 == static_cast<int64_t>(steps.size());
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const DrawnStates& drawn) {
  Verdict verdict{.findings = {}, .judged = Counted(drawn.seeds, "seed")};
  for (const auto& [state, steps] : drawn.steps) {
    if (static_cast<double>(steps.size()) < settings[kTimes]) continue;
    std::vector<Place> places;
    if (drawn.site.line > 0) {
      places.push_back({.thing = "", .file = drawn.site.file, .line = drawn.site.line});
    }
    verdict.findings.push_back(
        {.severity = AtEveryStep(steps) ? Severity::kNote : Severity::kWarning,
         .message = StrCat("Training drew the same random numbers at ",
                           Counted(static_cast<int64_t>(steps.size()), "step"), ", among them ",
                           steps[0], " and ", steps[1],
                           ", as torch.manual_seed was given the same seed before each."),
         .places = std::move(places),
         .first_step = steps.front(),
         .last_step = steps.back(),
         .count = static_cast<int64_t>(steps.size()),
         .measured = static_cast<double>(steps.size()),
         .bound = settings[kTimes]});
  }
  return verdict;
}

// A step every `apart` after a seed, with these digests.
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
      .promise = "Training draws new random numbers as it goes on.",
      .why =
          "A seed that is set again in every epoch gives every epoch the same order, the same "
          "augmentation and the same dropout masks: the model sees one epoch over and over.",
      .method =
          "The state of the random numbers on the CPU at the first step of an optimizer after each "
          "call of torch.manual_seed, where that step drew some and the state was not put back.",
      .fix =
          "Set the seed once, before the model is built; for an evaluation that is to be "
          "repeatable "
          "use a torch.Generator of its own, or torch.random.fork_rng().",
      .limits =
          "The first 64 calls are looked at. A note where every step draws the same, which may be "
          "meant. Random numbers of NumPy, of Python and of accelerators are not looked at.",
      .sources = {"PyTorch documentation: reproducibility", "own reasoning: exact"},
      .covers = {"R03"},
      .explains = {"data/repeated_shuffle"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {kTimes},
      .judgement = Reads<&Judge>(),
      .examples = {{"twice the same of three", Expect::kClean,
                    [] {
                      return Seeded({3, 4, 3}, 4);
                    }},
                   {"three times the same", Expect::kFaulty,
                    [] {
                      return Seeded({3, 3, 3}, 4);
                    }},
                   {"at every step", Expect::kFaulty,
                    [] {
                      return Seeded({3, 3, 3}, 1);
                    }}},
  };
}

}  // namespace dlcheck::reproducibility
