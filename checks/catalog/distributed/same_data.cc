#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/distributed/rank_data.h"

namespace dlcheck::distributed {
namespace {

constexpr Setting kPasses{.name = "passes",
                          .value = 8,
                          .low = 2,
                          .high = 1e6,
                          .unit = "forward passes",
                          .meaning = "fewest forward passes for a finding",
                          .source = "own reasoning: all of these passes must agree"};

// With one repeated batch, ranks may average their own noise.
constexpr int64_t kFewestInputs = 4;

// Equal inputs may have different targets. The losses show it, unless dropout changes them.
bool IsSame(const RankData::Group& group) {
  return group.same_passes > 0 && group.same_passes == group.passes &&
         (group.same_losses || group.draws > 0);
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const RankData& data) {
  Verdict verdict;
  int64_t passes = 0;
  for (const RankData::Group& group : data.groups) {
    if (static_cast<double>(group.passes) < settings[kPasses]) continue;
    passes += group.passes;
    if (!IsSame(group)) continue;
    std::vector<Place> places;
    for (const uint16_t rank : group.same) {
      places.push_back({.thing = "data", .rank = rank, .file = ""});
    }
    verdict.findings.push_back(
        {.severity = group.same_losses || group.same_inputs >= kFewestInputs ? Severity::kWarning
                                                                             : Severity::kNote,
         .message = StrCat("In all ", group.passes, " sampled forward passes, ",
                           RanksText(group.same), " received the same rows in the same order",
                           group.same_losses ? ", with equal losses." : "."),
         .places = std::move(places),
         .first_step = group.first_step,
         .last_step = group.last_step,
         .count = group.same_passes,
         .measured = static_cast<double>(group.same_passes),
         .bound = 0});
  }
  if (passes == 0) {
    return absl::NotFoundError(
        StrCat("fewer than ", settings[kPasses],
               " forward passes were sampled on all ranks of a process group"));
  }
  verdict.judged = StrCat(passes, " forward passes");
  return verdict;
}

// The second rank has the first rank's batch up to step `until`.
Evidence Given(int until, double other_loss = 1, bool draws = false) {
  RunBuilder run = OfRanks({.steps = 16, .step = [=](uint16_t rank, int step) {
                              const bool is_same = rank == 0 || step < until;
                              return RankStep{.batch = step + (is_same ? 1 : 1.5),
                                              .drawn = draws ? 20 + 2 * step + rank : 0.0,
                                              .loss = rank == 0 ? 1 : other_loss};
                            }});
  return PlainOnly(run);
}

}  // namespace

Check SameData() {
  return {
      .id = "distributed/same_data",
      .title = "All ranks train on the same data",
      .promise = "Ranks that synchronize gradients train on different data.",
      .why =
          "All ranks compute the same gradient. Many ranks learn as much as one, and the effective "
          "batch is smaller than expected.",
      .method =
          "Compares hashes of the model's training inputs across ranks at each sampled forward "
          "pass. Two ranks have the same rows in every pass. Their losses are also equal, unless "
          "the forward passes draw random numbers.",
      .fix =
          "Give the DataLoader a DistributedSampler and call set_epoch() in every epoch. In an "
          "IterableDataset, take every n-th sample by rank in __iter__. Seed random batches with "
          "the rank.",
      .limits = {.needs = "Ranks that synchronize gradients. The ranks of one tensor-parallel "
                          "group are not compared.",
                 .silent_when = "",
                 .severity = "Warning. Note if losses differ (as with dropout) on fewer than four "
                             "distinct batches. Ranks may then average their own noise.",
                 .blind_spots = "Different tasks on the same inputs are reported if their models "
                                "draw random numbers. At most 256 rows and 64 columns of a batch "
                                "are compared. Augmented data differs by its noise.",
                 .sensitivity = ""},
      .python = {.bad = R"(loader = DataLoader(dataset, batch_size=64, shuffle=False)
model = DistributedDataParallel(model)
for x, y in loader:
    train_step(model, optimizer, x, y))",
                 .good = R"(sampler = DistributedSampler(dataset)
loader = DataLoader(dataset, batch_size=64, sampler=sampler)
model = DistributedDataParallel(model)
for x, y in loader:
    train_step(model, optimizer, x, y))"},
      .cpp = {},
      .sources = {"PyTorch: DistributedSampler",
                  "own reasoning: a mean of equal terms is the term"},
      .covers = {"ranks-share-data"},
      .explains = {"distributed/overlapping_data"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kForward,
      .settings = {kPasses},
      .judgement = Reads<&Judge>(),
      .examples = {{"different rows in every pass", Expect::kClean, [] { return Given(0); }},
                   {"the same rows in every pass", Expect::kWarning, [] { return Given(16); }},
                   {"different rows only in the last pass", Expect::kClean,
                    [] { return Given(15); }},
                   {"the same inputs with different losses", Expect::kClean,
                    [] { return Given(16, 2); }},
                   {"the same inputs with different losses and dropout masks", Expect::kWarning,
                    [] { return Given(16, 2, true); }}},
  };
}

}  // namespace dlcheck::distributed
