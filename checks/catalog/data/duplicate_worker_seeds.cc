#include <algorithm>
#include <map>
#include <set>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/data/worker_streams.h"

namespace dlcheck::data {
namespace {

constexpr Setting kIterations{
    .name = "iterations",
    .value = 2,
    .low = 2,
    .high = 1e6,
    .unit = "iterations",
    .meaning = "fewest iterations that a worker starts in the same state",
    .source = "own reasoning: two states of 64 bits are not equal by chance"};

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
         .message = StrCat(Counted(static_cast<int64_t>(workers.size()), "DataLoader worker"), " ",
                           fate, " (", generator, " generator)."),
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
      "drew the same random numbers as another worker in every iteration", verdict);
  Add(repeated, streams.seeds_again ? Severity::kNote : Severity::kWarning,
      "started every iteration with the same random numbers", verdict);
  return verdict;
}

// Three iterations of two workers that start in these states.
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
      .title = "DataLoader workers draw the same random numbers",
      .promise =
          "Each DataLoader worker draws its own random numbers, which differ in every iteration.",
      .why =
          "All workers, or all epochs, apply the same augmentations. The training data vary less "
          "than intended.",
      .method =
          "Compares digests of the NumPy, Python and torch generators in each worker before the "
          "worker's first batch. Only generators that this batch draws from count. Reports two "
          "workers with equal digests in every iteration. Also reports one worker with equal "
          "digests in all of two or more iterations.",
      .fix =
          "In worker_init_fn, derive the seed from torch.initial_seed(), which differs by worker "
          "and by iteration. Replace any constant seed there.",
      .limits = {.needs = "A DataLoader with num_workers > 0 whose data set draws random numbers.",
                 .silent_when = "",
                 .severity =
                     "Warning. Note for equal workers if a data set has unknown length: its "
                     "workers may have to agree on an order. Note for equal iterations if the "
                     "program sets its seed again after the first step, for example per fold.",
                 .blind_spots = "Generators that the data set creates for itself are not seen.",
                 .sensitivity = ""},
      .python = {.bad = R"(def seed_worker(worker_id):
    np.random.seed(0)  # the same in every worker and epoch

loader = DataLoader(dataset, num_workers=4, worker_init_fn=seed_worker))",
                 .good = R"(def seed_worker(worker_id):
    np.random.seed(torch.initial_seed() % 2**32)

loader = DataLoader(dataset, num_workers=4, worker_init_fn=seed_worker))"},
      .cpp = {},
      .sources = {"PyTorch documentation: randomness in multi-process data loading",
                  "pytorch issue 5059"},
      .covers = {"equal-worker-random-streams", "same-augmentation-every-epoch"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kFetched,
      .settings = {kIterations},
      .judgement = Reads<&Judge>(),
      .examples = {{"different numbers in the last iteration", Expect::kClean,
                    [] {
                      return Streams({1, 2, 3}, {1, 2, 4}, "128");
                    }},
                   {"the same numbers in both workers", Expect::kWarning,
                    [] {
                      return Streams({1, 2, 3}, {1, 2, 3}, "128");
                    }},
                   {"the same numbers, with a data set of unknown length", Expect::kNote,
                    [] {
                      return Streams({1, 2, 3}, {1, 2, 3}, "");
                    }},
                   {"the same numbers in every iteration", Expect::kWarning,
                    [] {
                      return Streams({1, 1, 1}, {2, 2, 2}, "128");
                    }}},
  };
}

}  // namespace dlcheck::data
