// The functions that stand before those by which a data loader of LibTorch chooses its samples. In
// a plain run they only hand on.
#include <torch/torch.h>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "checks/observe/preload/hooks.h"
#include "checks/observe/preload/process_request.h"
#include "checks/observe/preload/samplers.h"
#include "checks/records/digest.h"

namespace dlcheck {
namespace {

using torch::data::samplers::RandomSampler;
using torch::data::samplers::SequentialSampler;
using Indices = std::optional<std::vector<size_t>>;

std::atomic<size_t> last_batch_size{0};

constexpr size_t kLimitedBatches = 4;   // of a pass in the experiment limited_data
constexpr size_t kMostSamplers = 4096;  // that are remembered

bool LimitsPasses() {
  static const bool limits = IsExperiment("limited_data");
  return limits;
}

// The samplers of this process: which loader each belongs to, and how far its pass is. A program
// may make a loader for each pass.
class Samplers {
 public:
  static Samplers& TheOnly() {
    static auto* only = new Samplers;
    return *only;
  }
  // A pass over so many samples begins.
  void Begins(const void* sampler, size_t samples) {
    const std::lock_guard<std::mutex> lock(lock_);
    if (passes_.size() < kMostSamplers || passes_.count(sampler) > 0) {
      passes_[sampler] = {samples, 0};
    }
  }
  // What is known of a batch that a sampler gave.
  ChosenBatch Given(const void* sampler, Entry kind, size_t size,
                    const std::vector<size_t>& batch) {
    const std::lock_guard<std::mutex> lock(lock_);
    Pass unknown;
    Pass& pass = PassOf(sampler, unknown);
    const auto place = static_cast<int64_t>(pass.batches++);
    Loader& loader = LoaderOf(pass, kind, size);
    if (place == 0) ++loader.passes;
    return {loader.number,
            kind == Entry::kRandomNext,
            pass.samples,
            size,
            place,
            batch.size(),
            Digest(batch.data(), batch.size() * sizeof(size_t)),
            loader.passes};
  }
  // In the experiment limited_data: the first batches of the first pass come again in each pass.
  template <typename Next>
  Indices Limited(const void* sampler, Entry kind, size_t size, const Next& next) {
    const std::lock_guard<std::mutex> lock(lock_);
    Pass unknown;
    Pass& pass = PassOf(sampler, unknown);
    std::vector<std::vector<size_t>>& first = LoaderOf(pass, kind, size).first;
    const size_t place = pass.batches++;
    if (place >= kLimitedBatches) return std::nullopt;
    if (place >= first.size()) {
      Indices batch = next();
      if (!batch) return batch;
      first.push_back(*batch);
    }
    return first[place];
  }

 private:
  struct Pass {
    size_t samples = 0;  // of the data set; 0 if the pass was not seen to begin
    size_t batches = 0;  // given so far
  };
  struct Loader {
    int number = -1;
    int64_t passes = 0;                      // that began
    std::vector<std::vector<size_t>> first;  // batches that come again
  };
  Pass& PassOf(const void* sampler, Pass& unknown) {
    const auto known = passes_.find(sampler);
    return known == passes_.end() ? unknown : known->second;
  }
  Loader& LoaderOf(const Pass& pass, Entry kind, size_t size) {
    const std::tuple<Entry, size_t, size_t> key(kind, pass.samples, size);
    if (loaders_.size() >= kMostSamplers && loaders_.count(key) == 0) return other_;
    Loader& loader = loaders_[key];
    if (loader.number < 0) loader.number = static_cast<int>(loaders_.size()) - 1;
    return loader;
  }

  std::mutex lock_;
  Loader other_{static_cast<int>(kMostSamplers), 0, {}};  // beyond those that are told apart
  std::map<const void*, Pass> passes_;
  std::map<std::tuple<Entry, size_t, size_t>, Loader> loaders_;
};

// No exception reaches the program; after one, nothing is watched any more.
template <typename Work>
void Keep(const Work& work) {
  try {
    work();
  } catch (...) {
    Watcher::EndAll();
  }
}

template <typename Sampler, Entry entry>
Indices NextBatch(Sampler* sampler, size_t size) {
  last_batch_size = size;
  const auto next = [&] { return OriginalOf<Indices(Sampler*, size_t)>(entry)(sampler, size); };
  if (LimitsPasses()) return Samplers::TheOnly().Limited(sampler, entry, size, next);
  Indices batch = next();
  if (!batch) return batch;
  Keep([&] {
    const ChosenBatch chosen = Samplers::TheOnly().Given(sampler, entry, size, *batch);
    Tell([&chosen](Watcher& watcher) { watcher.BatchChosen(chosen); });
  });
  return batch;
}

// The members of samplers, of which the number of samples is private.
struct RandomLayout {
  void* type;
  at::Tensor indices;
  int64_t index;
};
static_assert(sizeof(RandomLayout) == sizeof(RandomSampler));
struct SequentialLayout {
  void* type;
  size_t size, index;
};
static_assert(sizeof(SequentialLayout) == sizeof(SequentialSampler));

void RandomBegins(RandomSampler* sampler, std::optional<size_t> size) {
  OriginalOf<void(RandomSampler*, std::optional<size_t>)>(Entry::kRandomReset)(sampler, size);
  const at::Tensor& indices = reinterpret_cast<const RandomLayout*>(sampler)->indices;
  const int64_t samples = indices.defined() ? indices.numel() : 0;
  Keep([&] { Samplers::TheOnly().Begins(sampler, static_cast<size_t>(samples)); });
}

void SequentialBegins(SequentialSampler* sampler, std::optional<size_t> size) {
  OriginalOf<void(SequentialSampler*, std::optional<size_t>)>(Entry::kSequentialReset)(sampler,
                                                                                       size);
  const size_t samples = reinterpret_cast<const SequentialLayout*>(sampler)->size;
  Keep([&] { Samplers::TheOnly().Begins(sampler, samples); });
}

}  // namespace

size_t SampledBatchSize() { return last_batch_size; }

void* SamplerHookOf(Entry entry) {
  switch (entry) {
    case Entry::kRandomReset:
      return Address(&RandomBegins);
    case Entry::kRandomNext:
      return Address(&NextBatch<RandomSampler, Entry::kRandomNext>);
    case Entry::kSequentialReset:
      return Address(&SequentialBegins);
    case Entry::kSequentialNext:
      return Address(&NextBatch<SequentialSampler, Entry::kSequentialNext>);
    default:
      return nullptr;
  }
}

}  // namespace dlcheck
