#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/distributed/rank_data.h"

namespace dlcheck::distributed {
namespace {

constexpr Setting kShare{
    .name = "share",
    .value = 0.04,
    .low = 0,
    .high = 1,
    .unit = "of the rows",
    .meaning = "smallest share of rows common to two ranks that counts as overlap",
    .source = "own reasoning: padding and equal samples stay below it"};
constexpr Setting kRows{.name = "rows",
                        .value = 32,
                        .low = 8,
                        .high = 64,
                        .unit = "rows",
                        .meaning = "fewest rows compared",
                        .source = "own reasoning: 4 % of fewer rows is one row or none"};

// Two ranks may have one row less than this in common if shards are padded to equal sizes.
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
                           " trained on the same rows: ", group.rows.common, " of ",
                           group.rows.rows, " compared rows",
                           may_be_meant ? ". Each rank samples randomly on its own." : "."),
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
               " different rows of the first pass over the data are known for two ranks"));
  }
  verdict.judged = Counted(rows, "row");
  return verdict;
}

// 64 rows for each of two ranks; the second starts `apart` rows after the first.
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
      .title = "Ranks train on overlapping samples",
      .promise = "In one pass over the data, each sample goes to one rank.",
      .why =
          "Some samples count several times per epoch and others may never be used. Epochs are "
          "longer than expected.",
      .method =
          "Records the 64 smallest row hashes that each rank trained on before any row repeated, "
          "in the first 64 steps. Among the smallest of two ranks together, some belong to both.",
      .fix =
          "Use a DistributedSampler, or take samples rank, rank + world_size, rank + 2 * "
          "world_size and so on. For your own shards, start each where the previous one ends.",
      .limits = {.needs = "At least 32 different rows from the first pass on two ranks.",
                 .silent_when = "Data with many equal rows ends the recorded pass early.",
                 .severity = "Warning; note if a loader samples randomly on each rank, as with "
                             "sample weights, because ranks then overlap by chance.",
                 .blind_spots = "Augmented rows differ, so their overlap is not found.",
                 .sensitivity = ""},
      .python = {.bad = R"(rank, per_rank = dist.get_rank(), len(dataset) // 2
indices = range(rank * per_rank // 2, rank * per_rank // 2 + per_rank)
loader = DataLoader(Subset(dataset, indices), batch_size=64)
train(model, loader))",
                 .good = R"(indices = range(dist.get_rank(), len(dataset), dist.get_world_size())
loader = DataLoader(Subset(dataset, indices), batch_size=64)
train(model, loader))"},
      .cpp = {},
      .sources = {"PyTorch: DistributedSampler",
                  "own reasoning: the smallest of all numbers are a sample that both draw alike"},
      .covers = {"ranks-share-data"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kForward,
      .settings = {kShare, kRows},
      .judgement = Reads<&Judge>(),
      .examples = {{"one shard after the other", Expect::kClean, [] { return Dealt(64); }},
                   {"common rows", Expect::kWarning, [] { return Dealt(25); }},
                   {"common rows, sampled randomly on each rank", Expect::kNote,
                    [] { return Dealt(25, "random"); }}},
  };
}

}  // namespace dlcheck::distributed
