#include <algorithm>
#include <bit>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/reproduction.h"

namespace dlcheck::reproducibility {
namespace {

// Equal bits, so that two NaN of one kind agree and 0 differs from -0.
bool SameBits(const Reproduction::Value& a, const Reproduction::Value& b) {
  return std::bit_cast<uint64_t>(a.value) == std::bit_cast<uint64_t>(b.value) &&
         std::bit_cast<uint64_t>(a.aux) == std::bit_cast<uint64_t>(b.aux);
}

std::string Story(const Reproduction::Value& first, const Reproduction::Value& second) {
  switch (first.what) {
    case Reproduction::What::kBatch:
      return StrCat("the batch of step ", first.step,
                    " differs, so the order of the data or its augmentation is not seeded");
    case Reproduction::What::kWeights:
      return first.step == 0
                 ? std::string("the initial weights differ, so initialisation is not seeded")
                 : StrCat(
                       "the weights differ before step ", first.step,
                       " although batches and losses before agree, so an operation of the update "
                       "or of backward is not deterministic");
    case Reproduction::What::kLoss:
      return StrCat("the loss of step ", first.step, " differs (", Short(first.value), " and ",
                    Short(second.value), ")");
  }
  return "";
}

absl::StatusOr<Verdict> Judge(const Settings&, const Reproduction& first,
                              const During<kSameSeed, Reproduction>& second) {
  if (first.loaded != second->loaded) {
    return absl::FailedPreconditionError(
        "only one of the two runs began from saved state, which the other may have written");
  }
  const size_t count = std::min(first.values.size(), second->values.size());
  size_t at = 0;
  while (at < count && first.values[at].what == second->values[at].what &&
         first.values[at].step == second->values[at].step &&
         SameBits(first.values[at], second->values[at])) {
    ++at;
  }
  Verdict verdict{.findings = {},
                  .judged = StrCat(Counted(static_cast<int64_t>(count), "value"), " of the first ",
                                   Counted(second->values.back().step + 1, "step"))};
  if (at == count) return verdict;
  const Reproduction::Value& value = first.values[at];
  const bool promised = first.seeded && first.nondeterministic.empty();
  std::string message = StrCat("Two runs of the same command part at step ", value.step, ": ",
                               Story(value, second->values[at]));
  if (!first.seeded) message += "; the program sets no seed";
  if (!first.nondeterministic.empty()) {
    StrAppend(&message, "; not deterministic by declaration: ", first.nondeterministic);
  }
  verdict.findings.push_back({.severity = promised ? Severity::kError : Severity::kNote,
                              .message = message + ".",
                              .places = {},
                              .first_step = value.step,
                              .last_step = value.step,
                              .count = static_cast<int64_t>(count - at),
                              .measured = second->values[at].value - value.value,
                              .bound = 0});
  return verdict;
}

Evidence TwoRuns(double second_loss) {
  Evidence evidence;
  for (const Experiment& experiment : {kPlain, kSameSeed}) {
    RunBuilder run = TwoLayers();
    for (int step = 0; step < 4; ++step) {
      AddStep(run, {.loss = step == 2 && experiment == kSameSeed ? second_loss : 2.3, .held = {}});
    }
    evidence.Add(experiment, run.Build());
  }
  return evidence;
}

}  // namespace

Check SeedDrift() {
  return {
      .id = "reproducibility/seed_drift",
      .promise = "A program that sets its seeds gives the same bits when it is run again.",
      .why =
          "Without that, no change can be told from chance, and a fault that was seen once cannot "
          "be seen again.",
      .method =
          "The command is run twice; digests of weights and batches and all losses of the first "
          "64 steps are compared bit by bit, and the first that differs is named.",
      .fix =
          "Call torch.manual_seed before the model is built, give DataLoader a seeded generator "
          "and "
          "a worker_init_fn, and call torch.use_deterministic_algorithms(True).",
      .limits =
          "A program that sets no seed, or declares what is not deterministic, gets a note. "
          "What differs after step 63 is not seen.",
      .sources = {"PyTorch notes on reproducibility"},
      .covers = {"D04", "N11"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"the same loss", Expect::kClean, [] { return TwoRuns(2.3); }},
                   {"one bit of one loss", Expect::kFaulty, [] { return TwoRuns(2.3 + 4.5e-16); }}},
  };
}

}  // namespace dlcheck::reproducibility
