#include <algorithm>
#include <bit>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/reproduction.h"

namespace dlcheck::reproducibility {
namespace {

// Equal bits: two equal NaN agree, and 0 differs from -0.
bool SameBits(const Reproduction::Value& a, const Reproduction::Value& b) {
  return std::bit_cast<uint64_t>(a.value) == std::bit_cast<uint64_t>(b.value) &&
         std::bit_cast<uint64_t>(a.aux) == std::bit_cast<uint64_t>(b.aux);
}

std::string LossStory(const Reproduction::Value& first, const Reproduction::Value& second) {
  const auto [one, other] = ShortApart(first.value, second.value);
  return StrCat("the loss of step ", first.step, " differs (", one, " and ", other, ")");
}

std::string Story(const Reproduction::Value& first, const Reproduction::Value& second) {
  switch (first.what) {
    case Reproduction::What::kBatch:
      return StrCat("the batch of step ", first.step,
                    " differs, so the data order or the augmentation is not seeded");
    case Reproduction::What::kWeights:
      return first.step == 0
                 ? std::string("the initial weights differ, so the initialization is not seeded")
                 : StrCat("the weights differ before step ", first.step,
                          " although earlier batches and losses agree, so an operation in backward "
                          "or in the update is nondeterministic");
    case Reproduction::What::kLoss:
      return LossStory(first, second);
  }
  return "";
}

// The first value that differs between two runs, over all ranks; null if all agree.
struct Parting {
  const Reproduction::Value *own = nullptr, *other = nullptr;
  int64_t compared = 0, steps = 0;
  int64_t differing = 0;  // values of that rank from there on
};

Parting WhereTheyPart(const Reproduction& first, const Reproduction& second) {
  Parting parting;
  for (const auto& [rank, others] : second.values) {
    const auto found = first.values.find(rank);
    if (found == first.values.end()) continue;
    const std::vector<Reproduction::Value>& values = found->second;
    const size_t count = std::min(values.size(), others.size());
    parting.compared += static_cast<int64_t>(count);
    parting.steps = std::max(parting.steps, others.back().step + 1);
    size_t at = 0;
    while (at < count && values[at].what == others[at].what && values[at].step == others[at].step &&
           SameBits(values[at], others[at])) {
      ++at;
    }
    if (at == count || (parting.own != nullptr && parting.own->step <= values[at].step)) continue;
    parting.own = &values[at];
    parting.other = &others[at];
    parting.differing = static_cast<int64_t>(count - at);
  }
  return parting;
}

absl::StatusOr<Verdict> Judge(const Settings&, const Reproduction& first,
                              const During<kSameSeed, Reproduction>& second) {
  if (first.loaded != second->loaded) {
    return absl::FailedPreconditionError(
        "only one of the two runs started from saved state, which the other run may have written");
  }
  const Parting parting = WhereTheyPart(first, *second);
  Verdict verdict{.findings = {},
                  .judged = StrCat(Counted(parting.compared, "value"), " of the first ",
                                   Counted(parting.steps, "step"))};
  if (parting.own == nullptr) return verdict;
  const Reproduction::Value& value = *parting.own;
  const bool promised = first.seeded && first.nondeterministic.empty();
  std::string message = StrCat("Two runs of the same command differ from step ", value.step,
                               " on: ", Story(value, *parting.other));
  if (!first.seeded) message += "; the program sets no seed";
  if (!first.nondeterministic.empty()) {
    StrAppend(&message, "; declared as nondeterministic: ", first.nondeterministic);
  }
  verdict.findings.push_back({.severity = promised ? Severity::kError : Severity::kNote,
                              .message = message + ".",
                              .places = {},
                              .first_step = value.step,
                              .last_step = value.step,
                              .count = parting.differing,
                              .measured = parting.other->value - value.value,
                              .bound = 0});
  return verdict;
}

// Two ranks; the first makes `steps` steps in the second run.
Evidence TwoRuns(double second_loss, int steps = 4) {
  Evidence evidence;
  for (const Experiment& experiment : {kPlain, kSameSeed}) {
    const bool again = experiment == kSameSeed;
    RunBuilder run = TwoLayers();
    for (const uint16_t rank : {uint16_t{0}, uint16_t{1}}) {
      run.Rank(rank);
      for (int step = 0; step < (rank == 0 && again ? steps : 4); ++step) {
        AddStep(run, {.loss = (step == 2 && again ? second_loss : 2.3) + rank, .held = {}});
      }
    }
    evidence.Add(experiment, run.Build());
  }
  return evidence;
}

}  // namespace

Check NondeterministicTraining() {
  return {
      .id = "reproducibility/nondeterministic_training",
      .title = "Two runs with the same seed differ",
      .promise = "A program that sets its seeds gives bitwise equal results when it runs again.",
      .why =
          "Without reproducibility, the effect of a change cannot be separated from chance, and a "
          "fault cannot be reproduced.",
      .method =
          "Runs the command twice. Compares weights and batches (by hash) and all losses of the "
          "first 64 steps bit by bit. Names the first difference.",
      .fix =
          "Call torch.manual_seed() before building the model. Give DataLoader a seeded generator "
          "and a worker_init_fn, and call torch.use_deterministic_algorithms(True).",
      .limits = {.needs = "A second run of the same command.",
                 .silent_when = "Only one of the two runs started from saved state.",
                 .severity = "Error; note if the program sets no seed or declares nondeterminism.",
                 .blind_spots = "Differences after step 63 are not compared.",
                 .sensitivity = ""},
      .python = {.bad = R"(model = Net()
torch.manual_seed(0)  # too late for the initial weights
loader = DataLoader(dataset, shuffle=True))",
                 .good = R"(torch.manual_seed(0)
torch.use_deterministic_algorithms(True)
model = Net()
generator = torch.Generator().manual_seed(0)
loader = DataLoader(dataset, shuffle=True, generator=generator))"},
      .cpp = {.bad = R"(Net model;
torch::manual_seed(0);  // too late for the initial weights)",
              .good = R"(torch::manual_seed(0);
at::globalContext().setDeterministicAlgorithms(true, false);
Net model;)"},
      .sources = {"PyTorch notes on reproducibility"},
      .covers = {"unrepeatable-run", "hardware-corruption"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"the same loss", Expect::kClean, [] { return TwoRuns(2.3); }},
                   {"a rank that ends earlier", Expect::kClean, [] { return TwoRuns(2.3, 2); }},
                   {"one different bit in one loss", Expect::kError,
                    [] { return TwoRuns(2.3 + 4.5e-16); }}},
  };
}

}  // namespace dlcheck::reproducibility
