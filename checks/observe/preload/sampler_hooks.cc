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

namespace dlcheck {
namespace {

using torch::data::samplers::RandomSampler;
using torch::data::samplers::SequentialSampler;
using Indices = std::optional<std::vector<size_t>>;

std::atomic<size_t> last_batch_size{0};

constexpr size_t kBatches = 4;  // of a pass in the experiment limited_data

// The first batches that samplers gave, for the next passes of these or of others over as many
// samples: a program may make a loader for each pass.
class LimitedPasses {
 public:
  static LimitedPasses& TheOnly() {
    static auto* only = new LimitedPasses;
    return *only;
  }
  void Built(const void* sampler, size_t samples) {
    const std::lock_guard<std::mutex> lock(lock_);
    passes_[sampler] = {samples, 0};
  }
  void Begins(const void* sampler) {
    const std::lock_guard<std::mutex> lock(lock_);
    passes_[sampler].batches = 0;
  }
  template <typename Next>
  Indices Batch(const void* sampler, Entry kind, size_t size, const Next& next) {
    const std::lock_guard<std::mutex> lock(lock_);
    Pass& pass = passes_[sampler];
    std::vector<std::vector<size_t>>& chosen = chosen_[{kind, pass.samples, size}];
    const size_t place = pass.batches++;
    if (place >= kBatches) return std::nullopt;
    if (place < chosen.size()) return chosen[place];
    Indices batch = next();
    if (batch) chosen.push_back(*batch);
    return batch;
  }

 private:
  struct Pass {
    size_t samples = 0;  // of the data set; 0 if the sampler was not seen to be built
    size_t batches = 0;  // given so far
  };
  std::mutex lock_;
  std::map<const void*, Pass> passes_;
  std::map<std::tuple<Entry, size_t, size_t>, std::vector<std::vector<size_t>>> chosen_;
};

bool LimitsPasses() {
  static const bool limits = IsExperiment("limited_data");
  return limits;
}

template <typename Sampler, Entry entry>
Indices NextBatch(Sampler* sampler, size_t size) {
  last_batch_size = size;
  const auto next = [&] { return OriginalOf<Indices(Sampler*, size_t)>(entry)(sampler, size); };
  if (!LimitsPasses()) return next();
  return LimitedPasses::TheOnly().Batch(sampler, entry, size, next);
}

template <typename Sampler, Entry entry>
void PassBegins(Sampler* sampler, std::optional<size_t> size) {
  OriginalOf<void(Sampler*, std::optional<size_t>)>(entry)(sampler, size);
  if (LimitsPasses()) LimitedPasses::TheOnly().Begins(sampler);
}

void RandomBuilt(RandomSampler* sampler, int64_t size, at::ScalarType type) {
  OriginalOf<void(RandomSampler*, int64_t, at::ScalarType)>(Entry::kRandomSampler)(sampler, size,
                                                                                   type);
  if (LimitsPasses()) LimitedPasses::TheOnly().Built(sampler, static_cast<size_t>(size));
}

void SequentialBuilt(SequentialSampler* sampler, size_t size) {
  OriginalOf<void(SequentialSampler*, size_t)>(Entry::kSequentialSampler)(sampler, size);
  if (LimitsPasses()) LimitedPasses::TheOnly().Built(sampler, size);
}

}  // namespace

size_t SampledBatchSize() { return last_batch_size; }

void* SamplerHookOf(Entry entry) {
  switch (entry) {
    case Entry::kRandomSampler:
      return Address(&RandomBuilt);
    case Entry::kRandomReset:
      return Address(&PassBegins<RandomSampler, Entry::kRandomReset>);
    case Entry::kRandomNext:
      return Address(&NextBatch<RandomSampler, Entry::kRandomNext>);
    case Entry::kSequentialSampler:
      return Address(&SequentialBuilt);
    case Entry::kSequentialReset:
      return Address(&PassBegins<SequentialSampler, Entry::kSequentialReset>);
    case Entry::kSequentialNext:
      return Address(&NextBatch<SequentialSampler, Entry::kSequentialNext>);
    default:
      return nullptr;
  }
}

}  // namespace dlcheck
