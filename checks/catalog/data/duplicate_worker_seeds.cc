#include <algorithm>
#include <map>
#include <set>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/worker_streams.h"

namespace dlcheck::data {
namespace {

constexpr Setting kIterations{
    .name = "iterations",
    .value = 2,
    .low = 2,
    .high = 1e6,
    .unit = "iterations",
    .meaning = "how often a worker has to begin with the same state",
    .source = "own reasoning: two states of 64 bits are equal by no chance"};

using Stream = WorkerStreams::Stream;

// Equal in every iteration that both have.
bool AreShared(const Stream& a, const Stream& b) {
  const size_t both = std::min(a.states.size(), b.states.size());
  return a.generator == b.generator && a.rank == b.rank && a.worker != b.worker &&
         std::equal(a.states.begin(), a.states.begin() + static_cast<int64_t>(both),
                    b.states.begin());
}

bool IsRepeated(const Stream& stream, double times) {
  return static_cast<double>(stream.states.size()) >= times &&
         std::ranges::all_of(stream.states,
                             [&](const auto& state) { return state == stream.states.front(); });
}

std::vector<Place> PlacesOf(const std::set<int>& workers) {
  std::vector<Place> places;
  for (const int worker : workers) {
    places.push_back({.thing = StrCat("worker ", worker), .file = ""});
  }
  return places;
}

// One finding for each generator whose workers are in `workers`.
void Add(const std::map<std::string, std::set<int>>& generators, Severity severity,
         std::string_view fate, Verdict& verdict) {
  for (const auto& [generator, workers] : generators) {
    verdict.findings.push_back(
        {.severity = severity,
         .message = StrCat(Counted(static_cast<int64_t>(workers.size()), "worker"), " of loaders ",
                           fate, " (the generator of ", generator, ")."),
         .places = PlacesOf(workers),
         .first_step = 0,
         .last_step = 0,
         .count = static_cast<int64_t>(workers.size()),
         .measured = static_cast<double>(workers.size()),
         .bound = 0});
  }
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const WorkerStreams& streams) {
  std::map<std::string, std::set<int>> shared, repeated;
  for (const Stream& one : streams.streams) {
    if (IsRepeated(one, settings[kIterations])) repeated[one.generator].insert(one.worker);
    for (const Stream& other : streams.streams) {
      if (AreShared(one, other)) shared[one.generator].insert(one.worker);
    }
  }
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(streams.streams.size()), "random stream")};
  Add(shared, streams.reads_iterables ? Severity::kNote : Severity::kWarning,
      "drew the same random numbers as each other in every iteration", verdict);
  Add(repeated, streams.seeds_again ? Severity::kNote : Severity::kWarning,
      "began every iteration with the same random numbers", verdict);
  return verdict;
}

// Three iterations of two workers, that begin with these states.
Evidence Streams(std::initializer_list<double> first, std::initializer_list<double> second,
                 std::string_view samples) {
  RunBuilder run = TwoLayers();
  run.Attribute("loader", "train", "workers", "2");
  if (!samples.empty()) run.Attribute("loader", "train", "samples", samples);
  for (int step = 0; step < 4; ++step) AddStep(run, {.held = {}});
  Run both = run.Build();
  for (int worker = 0; worker < 2; ++worker) {
    const ThingId generator = both.trace.AddThing("generator", worker, "numpy");
    for (const double state : worker == 0 ? first : second) {
      both.trace.AddSample(Quantity::kWorkerStream, generator, {.value = state, .aux = 7});
    }
  }
  Evidence evidence;
  evidence.Add(kPlain, std::move(both));
  return evidence;
}

}  // namespace

Check DuplicateWorkerSeeds() {
  return {
      .id = "data/duplicate_worker_seeds",
      .promise = "Each worker of a loader draws random numbers of its own, new in each iteration.",
      .why = "Augmentations are the same in all workers, or in every epoch: fewer than they look.",
      .method =
          "Digests of the random generators in each worker before its first batch, where the batch "
          "drew from them: equal in two workers in every iteration, or in one worker in all "
          "iterations that were looked at, two or more.",
      .fix =
          "In worker_init_fn derive the seed from torch.initial_seed(), which differs by worker "
          "and "
          "by iteration, not from a constant.",
      .limits =
          "Workers that read one stream may have to agree on its order: a note if a loader has a "
          "data set of unknown length. A program that sets its seed again, as for each fold, "
          "begins "
          "anew on purpose: a note. Generators that a data set makes for itself are not seen.",
      .sources = {"PyTorch documentation: randomness in multi-process data loading",
                  "pytorch issue 5059"},
      .covers = {"D13", "D14"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kFetched,
      .settings = {kIterations},
      .judgement = Reads<&Judge>(),
      .examples = {{"other numbers in the last iteration", Expect::kClean,
                    [] {
                      return Streams({1, 2, 3}, {1, 2, 4}, "128");
                    }},
                   {"the same numbers in both", Expect::kFaulty,
                    [] {
                      return Streams({1, 2, 3}, {1, 2, 3}, "128");
                    }},
                   {"the same numbers in one stream", Expect::kFaulty,
                    [] {
                      return Streams({1, 2, 3}, {1, 2, 3}, "");
                    }},
                   {"the same numbers in every iteration", Expect::kFaulty,
                    [] {
                      return Streams({1, 1, 1}, {2, 2, 2}, "128");
                    }}},
  };
}

}  // namespace dlcheck::data
