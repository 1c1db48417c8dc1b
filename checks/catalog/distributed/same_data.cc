#include "checks/catalog/example_runs.h"
#include "checks/catalog/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/rank_data.h"

namespace dlcheck::distributed {
namespace {

constexpr Setting kPasses{.name = "passes",
                          .value = 8,
                          .low = 2,
                          .high = 1e6,
                          .unit = "forward passes",
                          .meaning = "fewest that a finding rests on",
                          .source = "own reasoning: all of them have to agree"};

// Of one batch again and again, processes may average noise of their own.
constexpr int64_t kFewestInputs = 4;

// The same inputs may have other targets, which losses show unless masks make them differ.
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
         .message = StrCat("In all of ", group.passes, " sampled forward passes ",
                           RanksText(group.same), " were given the same rows in the same order",
                           group.same_losses ? ", with the same losses." : "."),
         .places = std::move(places),
         .first_step = group.first_step,
         .last_step = group.last_step,
         .count = group.same_passes,
         .measured = static_cast<double>(group.same_passes),
         .bound = 0});
  }
  if (passes == 0) {
    return absl::NotFoundError(StrCat("fewer than ", settings[kPasses],
                                      " forward passes were sampled on all processes of a group"));
  }
  verdict.judged = StrCat(passes, " forward passes");
  return verdict;
}

// The batch of the second process is that of the first up to step `until`.
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
      .promise = "Processes that share gradients train on different data.",
      .why =
          "All of them work out the same gradient: many processes learn as much as one, and the "
          "batch is smaller than it is taken to be.",
      .method =
          "Digests of the rows that models are given in training, compared between the processes "
          "of a group at each sampled forward pass: two have the same rows in all of them, and the "
          "same losses unless their forward passes draw random numbers.",
      .fix =
          "Give the DataLoader a DistributedSampler and call its set_epoch() at each epoch; with "
          "an "
          "IterableDataset, take every n-th sample by rank in __iter__; seed what draws batches "
          "with the rank.",
      .limits =
          "Only processes that share gradients are compared, so not those of one tensor-parallel "
          "group. A note where losses differ, as dropout makes them, on fewer than four batches, "
          "as "
          "where processes average their own noise over one. Other tasks on the same inputs are "
          "found, too, if their models draw random numbers. At most 256 rows and 64 columns of a "
          "batch are looked at. Augmented data differ "
          "in their noise.",
      .sources = {"PyTorch: DistributedSampler",
                  "own reasoning: a mean of equal terms is the term"},
      .covers = {"D15"},
      .explains = {"distributed/overlapping_data"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kForward,
      .settings = {kPasses},
      .judgement = Reads<&Judge>(),
      .examples = {{"all different", Expect::kClean, [] { return Given(0); }},
                   {"all the same", Expect::kFaulty, [] { return Given(16); }},
                   {"different in the last pass alone", Expect::kClean, [] { return Given(15); }},
                   {"the same inputs with other losses", Expect::kClean,
                    [] { return Given(16, 2); }},
                   {"the same inputs with other losses of other masks", Expect::kFaulty,
                    [] { return Given(16, 2, true); }}},
  };
}

}  // namespace dlcheck::distributed
