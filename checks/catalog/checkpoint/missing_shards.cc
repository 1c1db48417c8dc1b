#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/distributed/saved_shards.h"

namespace dlcheck::checkpoint {
namespace {

using Save = SavedShards::Save;

Finding FindingAbout(const Save& save, bool saves_whole, std::string message) {
  const auto& [rank, file] = *save.files.begin();
  return {.severity = saves_whole ? Severity::kNote : Severity::kError,
          .message = std::move(message),
          .places = {{.thing = file, .rank = rank, .file = ""}},
          .first_step = save.step,
          .last_step = save.step,
          .count = save.parts - static_cast<int64_t>(save.saved.size()),
          .measured = static_cast<double>(save.saved.size()),
          .bound = static_cast<double>(save.parts)};
}

// All ranks wrote their shards to the same file of one machine.
bool IsOneFile(const Save& save, bool one_machine) {
  const std::string& first = save.files.begin()->second;
  return one_machine && save.files.size() > 1 &&
         std::ranges::all_of(save.files, [&](const auto& entry) { return entry.second == first; });
}

// Empty if every shard is in a file.
std::string WhatIsMissing(const Save& save, bool one_machine) {
  const auto saved = static_cast<int64_t>(save.saved.size());
  Ranks ranks;
  for (const auto& [rank, file] : save.files) ranks.push_back(rank);
  if (saved < save.parts) {
    return StrCat("Ranks ", save.group, " hold tensors in ", save.parts, " shards, but only ",
                  saved, " ", saved == 1 ? "was" : "were", " saved, by ", RanksText(ranks),
                  " into ", save.files.begin()->second, ": no file holds the others.");
  }
  if (!IsOneFile(save, one_machine)) return "";
  return StrCat("All of ", RanksText(ranks),
                " wrote their shards of the same tensors to one file, ", save.files.begin()->second,
                ": only the last of ", save.parts, " shards is left.");
}

absl::StatusOr<Verdict> Judge(const Settings&, const SavedShards& shards) {
  Verdict verdict;
  for (const Save& save : shards.saves) {
    const std::string missing = WhatIsMissing(save, shards.one_machine);
    if (missing.empty()) continue;
    verdict.findings.push_back(FindingAbout(save, shards.saves_whole, missing));
    break;
  }
  verdict.judged = Counted(static_cast<int64_t>(shards.saves.size()), "save");
  return verdict;
}

// Two ranks that each hold half of a tensor; the first `savers` ranks save theirs, to one file or
// two.
Evidence Saving(int savers, bool one_file = false) {
  RunBuilder run = OfRanks({.kind = kPeers});
  run.Process("one_machine", "1");
  for (uint16_t rank = 0; rank < savers; ++rank) {
    const std::string file = StrCat("/runs/model", one_file ? 0 : rank, ".pt");
    run.Rank(rank).Owner(kPeers, "0-1");
    run.Event(Event::kSaved, 0, "file", file);
    run.Quantity(Quantity::kSavedShards, "file", file, rank, 2);
    run.Owner("");
  }
  return PlainOnly(run);
}

}  // namespace

Check MissingShards() {
  return {
      .id = "checkpoint/missing_shards",
      .title = "Some shards of the model are never saved",
      .promise = "Every rank that holds a shard saves it.",
      .why =
          "The file holds the shard of one rank and looks complete. The rest of the model is lost "
          "when the run ends, and only a load shows the loss.",
      .method =
          "Counts the shards of sharded tensors that torch.save receives on all ranks. Compares "
          "this number with the number of shards.",
      .fix =
          "Gather before you save: call get_model_state_dict with full_state_dict=True on all "
          "ranks, then save on rank 0. Or use torch.distributed.checkpoint.save, or save every "
          "rank to its own file.",
      .limits = {.needs =
                     "DTensors in the saved state, from fully_shard or tensor parallel layers.",
                 .silent_when = "All ranks write to one file, and they run on several machines.",
                 .severity = "Error. Note if the run also saves a complete model. The finding "
                             "names the first step with such a save.",
                 .blind_spots = "Shards of FSDP1 flat parameters (FullyShardedDataParallel) cannot "
                                "be distinguished.",
                 .sensitivity = ""},
      .python = {.bad = R"(fully_shard(model)
...
if rank == 0:
    torch.save(model.state_dict(), "model.pt")  # rank 0's shards only)",
                 .good = R"(fully_shard(model)
...
options = StateDictOptions(full_state_dict=True)
state = get_model_state_dict(model, options=options)  # on all ranks
if rank == 0:
    torch.save(state, "model.pt"))"},
      .cpp = {},
      .sources = {"PyTorch: torch.distributed.checkpoint, state dicts of fully_shard",
                  "own reasoning: a tensor in N shards needs all N shards"},
      .covers = {"incomplete-sharded-checkpoint"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kSaved,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"each rank saves its shard", Expect::kClean, [] { return Saving(2); }},
                   {"only the first rank saves", Expect::kError, [] { return Saving(1); }},
                   {"both ranks save to one file", Expect::kError, [] { return Saving(2, true); }}},
  };
}

}  // namespace dlcheck::checkpoint
