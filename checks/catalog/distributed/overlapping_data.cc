#include "checks/catalog/example_runs.h"
#include "checks/catalog/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/rank_data.h"

namespace dlcheck::distributed {
namespace {

constexpr Setting kShare{.name = "share",
                         .value = 0.04,
                         .low = 0,
                         .high = 1,
                         .unit = "of the rows",
                         .meaning = "common to two processes, from which on they overlap",
                         .source = "own reasoning: padding and equal samples are less"};
constexpr Setting kRows{.name = "rows",
                        .value = 32,
                        .low = 8,
                        .high = 64,
                        .unit = "rows",
                        .meaning = "fewest of those looked at",
                        .source = "own reasoning: 4 % of fewer are one or none"};

// Two processes may have as many as this in common but one where parts are filled up to be even.
constexpr int64_t kFewest = 3;

absl::StatusOr<Verdict> Judge(const Settings& settings, const RankData& data) {
  Verdict verdict;
  int64_t rows = 0;
  for (const RankData::Group& group : data.groups) {
    if (static_cast<double>(group.rows.rows) < settings[kRows]) continue;
    rows += group.rows.rows;
    const double share =
        static_cast<double>(group.rows.common) / static_cast<double>(group.rows.rows);
    if (share < settings[kShare] || group.rows.common < kFewest) continue;
    const bool may_be_meant = data.orders_of_their_own;
    verdict.findings.push_back(
        {.severity = may_be_meant ? Severity::kNote : Severity::kWarning,
         .message = StrCat("In their first pass over the data, ", RanksText(group.rows.pair),
                           " train on common rows: ", group.rows.common, " of ", group.rows.rows,
                           " looked at",
                           may_be_meant ? ". Each draws samples at random for itself." : "."),
         .places = {{.thing = "data", .rank = group.rows.pair.front(), .file = ""},
                    {.thing = "data", .rank = group.rows.pair.back(), .file = ""}},
         .first_step = 0,
         .last_step = 63,
         .count = group.rows.common,
         .measured = share,
         .bound = settings[kShare]});
  }
  if (rows == 0) {
    return absl::NotFoundError(
        StrCat("fewer than ", settings[kRows],
               " different rows of a first pass over the data are known of two processes"));
  }
  verdict.judged = Counted(rows, "row");
  return verdict;
}

// 64 rows for each of two processes; the second begins `apart` rows after the first.
Evidence Dealt(int apart, std::string_view order = "sequential") {
  RunBuilder run = OfRanks({});
  run.Attribute("loader", "", "order", order);
  for (uint16_t rank = 0; rank < 2; ++rank) {
    run.Rank(rank);
    for (int row = 0; row < 64; ++row) {
      run.Quantity(Quantity::kRowSketch, "rows", "", row + rank * apart);
    }
  }
  return PlainOnly(run);
}

}  // namespace

Check OverlappingData() {
  return {
      .id = "distributed/overlapping_data",
      .promise = "In a pass over the data, each sample goes to one process.",
      .why =
          "Some samples count several times in an epoch, and others perhaps never; epochs are "
          "longer "
          "than they are taken to be.",
      .method =
          "The 64 smallest row numbers that each process trained on before a row came again, in "
          "the "
          "first 64 steps: among the smallest of two processes together, some are of both.",
      .fix =
          "Use a DistributedSampler, or take samples rank, rank + world, rank + 2 world, ...; with "
          "shards of your own, let each begin where the one before ends.",
      .limits =
          "A note where a loader draws samples at random in each process for itself, as with "
          "weights: then they overlap by chance. Rows that are augmented differ. Data with many "
          "equal rows end the pass early, and nothing is said.",
      .sources = {"PyTorch: DistributedSampler",
                  "own reasoning: the smallest of all numbers are a sample that both draw alike"},
      .covers = {"D15"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kForward,
      .settings = {kShare, kRows},
      .judgement = Reads<&Judge>(),
      .examples = {{"one after the other", Expect::kClean, [] { return Dealt(64); }},
                   {"a tenth of them common", Expect::kFaulty, [] { return Dealt(25); }},
                   {"drawn by each for itself", Expect::kFaulty,
                    [] { return Dealt(25, "random"); }}},
  };
}

}  // namespace dlcheck::distributed
