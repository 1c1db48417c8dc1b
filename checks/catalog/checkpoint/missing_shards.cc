#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/saved_shards.h"

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

// All processes wrote their parts to the same file of one machine.
bool IsOneFile(const Save& save, bool one_machine) {
  const std::string& first = save.files.begin()->second;
  return one_machine && save.files.size() > 1 &&
         std::ranges::all_of(save.files, [&](const auto& entry) { return entry.second == first; });
}

// Empty if every part is in a file.
std::string WhatIsMissing(const Save& save, bool one_machine) {
  const auto saved = static_cast<int64_t>(save.saved.size());
  Ranks ranks;
  for (const auto& [rank, file] : save.files) ranks.push_back(rank);
  if (saved < save.parts) {
    return StrCat("Tensors are spread over ranks ", save.group, " in ", save.parts,
                  " parts, of which ", saved, " ", saved == 1 ? "was" : "were", " saved, by ",
                  RanksText(ranks), ", into ", save.files.begin()->second,
                  ": the rest of them is in no file.");
  }
  if (!IsOneFile(save, one_machine)) return "";
  return StrCat(RanksText(ranks), " write ", save.parts, " parts of the same tensors to ",
                "one file, ", save.files.begin()->second, ": what the last of them wrote is left.");
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

// Two processes that each hold a half; the first `savers` of them save it, to one file or to two.
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
      .promise = "What is spread over processes is saved by as many of them as hold a part.",
      .why =
          "The file holds the part of one process and looks whole: the rest of the model is lost "
          "as "
          "the run ends, and nothing says so before it is loaded.",
      .method =
          "The parts of sharded tensors in what torch.save is given, by process, against how many "
          "parts there are.",
      .fix =
          "Gather before saving: get_model_state_dict with full_state_dict=True on all processes, "
          "then save on rank 0; or let torch.distributed.checkpoint.save write all parts; or save "
          "on every process into a file of its own.",
      .limits =
          "Reads DTensors in what is saved: those of fully_shard and of tensor parallel layers. "
          "Parts of a FullyShardedDataParallel's flat parameters are not told apart. One file for "
          "all is judged by its full name, where all processes run on one machine. A note where "
          "the run also saves a model as a whole; the first step with such a save is told.",
      .sources = {"PyTorch: torch.distributed.checkpoint, state dicts of fully_shard",
                  "own reasoning: a tensor cut in N parts is restored from N"},
      .covers = {"X10"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kSaved,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"each its own part", Expect::kClean, [] { return Saving(2); }},
                   {"the first alone", Expect::kFaulty, [] { return Saving(1); }},
                   {"both to one file", Expect::kFaulty, [] { return Saving(2, true); }}},
  };
}

}  // namespace dlcheck::checkpoint
