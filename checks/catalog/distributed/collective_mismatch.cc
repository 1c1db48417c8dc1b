#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/distributed/rank_calls.h"

namespace dlcheck::distributed {
namespace {

using Call = RankCalls::Call;

std::string Described(const Call& call, const Trace& trace) {
  const NamedSite& site = trace.site(call.site);
  return StrCat(
      call.name, call.bytes > 0 ? StrCat(" of ", WithCommas(Whole(call.bytes)), " bytes") : "",
      call.site == 0
          ? ""
          : StrCat(" (", site.file.substr(site.file.rfind('/') + 1), ":", site.line, ")"));
}

Place PlaceOf(uint16_t rank, const Call& call, const Trace& trace) {
  const NamedSite& site = trace.site(call.site);
  return {.thing = call.name, .rank = rank, .file = site.file, .line = site.line};
}

bool Fit(const Call& one, const Call& other) {
  return one.name == other.name && (!one.is_even() || one.bytes == other.bytes);
}

// The first position at which the calls of two ranks do not match; the shorter length if none.
size_t FirstMisfit(const std::vector<Call>& one, const std::vector<Call>& other) {
  const size_t both = std::min(one.size(), other.size());
  size_t at = 0;
  while (at < both && Fit(one[at], other[at])) ++at;
  return at;
}

// The lowest rank against the rank that differs from it first.
void JudgeGroup(const RankCalls::Group& group, const Trace& trace, Verdict& verdict) {
  const auto& [first_rank, first] = *group.calls.begin();
  uint16_t other_rank = 0;
  size_t least = SIZE_MAX;
  for (const auto& [rank, calls] : group.calls) {
    if (rank == first_rank) continue;
    const size_t at = FirstMisfit(first, calls);
    if (at < std::min({first.size(), calls.size(), least})) least = at, other_rank = rank;
  }
  if (least == SIZE_MAX) return;
  const Call &one = first[least], &other = group.calls.at(other_rank)[least];
  verdict.findings.push_back(
      {.severity = Severity::kError,
       .message = StrCat("Collective call ", least + 1, " among ranks ", group.name, " was ",
                         Described(one, trace), " on rank ", first_rank, " but ",
                         Described(other, trace), " on rank ", other_rank, "."),
       .places = {PlaceOf(first_rank, one, trace), PlaceOf(other_rank, other, trace)},
       .first_step = one.step,
       .last_step = other.step,
       .count = 1,
       .measured = static_cast<double>(least + 1),
       .bound = 0});
}

absl::StatusOr<Verdict> Judge(const Settings&, const RankCalls& calls) {
  Verdict verdict;
  int64_t count = 0;
  for (const RankCalls::Group& group : calls.groups) {
    for (const auto& [rank, made] : group.calls) count += static_cast<int64_t>(made.size());
    JudgeGroup(group, *calls.trace, verdict);
  }
  verdict.judged = Counted(count, "collective call");
  return verdict;
}

// Calls of the second rank; the first rank calls all_reduce of 24 bytes and barrier.
Evidence Calling(const std::vector<std::pair<const char*, double>>& second) {
  RunBuilder run = OfRanks({});
  const auto call = [&run](const char* name, double bytes) {
    run.Event(Event::kCollective, bytes, "collective", name);
  };
  run.Rank(0).Owner(kPeers, "0-1");
  call("all_reduce float32", 24), call("barrier", 0);
  run.Rank(1);
  for (const auto& [name, bytes] : second) call(name, bytes);
  return PlainOnly(run);
}

}  // namespace

Check CollectiveMismatch() {
  return {
      .id = "distributed/collective_mismatch",
      .title = "Ranks call different collectives",
      .promise = "All ranks of a process group call the same collectives in the same order.",
      .why =
          "A collective pairs with the next call of every other rank. It hangs until its timeout, "
          "fails far from the cause, or mixes unrelated tensors.",
      .method =
          "Records each rank's torch.distributed calls in order, before each call runs. Compares "
          "operation, dtype and bytes at each position across the process group.",
      .fix =
          "Compare the two lines. Move the collective out of code that only some ranks run, such "
          "as `if rank == 0`. Give tensors equal sizes on all ranks.",
      .limits =
          {.needs = "Collectives called from Python, on two ranks.",
           .silent_when = "Calls after the first unsampled step are not recorded. The number of "
                          "bytes may differ for object collectives and all_to_all.",
           .severity = "",
           .blind_spots =
               "send(), recv() and the internal calls of DistributedDataParallel are not recorded.",
           .sensitivity = ""},
      .python = {.bad = R"(if dist.get_rank() == 0:
    dist.all_reduce(loss)
    print(loss / dist.get_world_size()))",
                 .good = R"(dist.all_reduce(loss)
if dist.get_rank() == 0:
    print(loss / dist.get_world_size()))"},
      .cpp = {},
      .sources = {"PyTorch: collectives have to be called in the same order on all ranks",
                  "deepspeed issues 6714 and 6089"},
      .covers = {"mismatched-collectives"},
      .explains = {"program/failed", "distributed/uneven_inputs"},
      .worst = Severity::kError,
      .live = true,
      .stands_at = {},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"the same calls", Expect::kClean,
                    [] {
                      return Calling({{"all_reduce float32", 24}, {"barrier", 0}});
                    }},
                   {"fewer calls", Expect::kClean,
                    [] {
                      return Calling({{"all_reduce float32", 24}});
                    }},
                   {"another order", Expect::kError,
                    [] {
                      return Calling({{"barrier", 0}, {"all_reduce float32", 24}});
                    }},
                   {"another dtype", Expect::kError,
                    [] {
                      return Calling({{"all_reduce float64", 24}, {"barrier", 0}});
                    }},
                   {"another size", Expect::kError,
                    [] {
                      return Calling({{"all_reduce float32", 28}, {"barrier", 0}});
                    }}},
  };
}

}  // namespace dlcheck::distributed
