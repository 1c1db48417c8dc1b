#include "reference/distributed/zero/sharded_parameters.h"

#include <algorithm>
#include <set>
#include <utility>

namespace dlcheck::reference {
namespace {

using torch::Tensor;

c10::StorageImpl& StorageOf(const Tensor& tensor) {
  return *tensor.storage().unsafeGetStorageImpl();
}

void Allocate(const Tensor& whole) {
  c10::StorageImpl& storage = StorageOf(whole);
  if (storage.nbytes() == whole.nbytes()) return;
  storage.set_data_ptr_noswap(c10::GetAllocator(whole.device().type())->allocate(whole.nbytes()));
  storage.set_nbytes(whole.nbytes());
}

}  // namespace

ShardedParameters::ShardedParameters(const Shards& shards, bool stay_whole)
    : shards_(shards), stays_whole_(stay_whole) {
  for (const Shards::Bundle& bundle : shards.bundles()) {
    const auto block = static_cast<size_t>(shards.parts()[bundle.begin].block);
    blocks_.resize(std::max(blocks_.size(), block + 1));
    blocks_[block].bundles.push_back(bundle);
    for (size_t i = bundle.begin; i < bundle.end; ++i) {
      const Shards::Part& part = shards.parts()[i];
      blocks_[block].wholes.push_back(part.whole);
      const c10::StorageImpl& storage = StorageOf(part.whole);
      const bool is_alone =
          storage.nbytes() == part.whole.nbytes() && block_of_.try_emplace(&storage, block).second;
      TORCH_CHECK(is_alone, "parameter '", part.name, "' shares its memory with another tensor");
    }
  }
  LetGoAll();
}

void ShardedParameters::During(const std::function<void()>& pass) {
  failure_ = nullptr;
  order_.Begin();
  try {
    const OperatorWatch watch([this](const OperatorWatch::Storages& storages, bool is_outermost) {
      Need(storages, is_outermost);
    });
    pass();
  } catch (...) {
    if (!failure_) throw;
  }
  order_.End();
  LetGoAll();
  if (failure_) std::rethrow_exception(failure_);
}

void ShardedParameters::Refresh() {
  LetGoAll();
  for (Block& block : blocks_) block.is_whole = false;
  // So that a graph from before finds that they were written, as it does elsewhere.
  for (const Shards::Part& part : shards_.parts()) {
    part.whole.unsafeGetTensorImpl()->bump_version();
  }
  if (stays_whole_) Gather();
}

void ShardedParameters::Gather() {
  failure_ = nullptr;
  for (size_t block = 0; block < blocks_.size(); ++block) Gather(block);
  if (failure_) std::rethrow_exception(failure_);
}

// Within another operator nothing is let go, as that one may hold pointers into it.
void ShardedParameters::Need(const OperatorWatch::Storages& storages, bool is_outermost) {
  std::set<size_t> needed;
  for (const c10::StorageImpl* storage : storages) {
    const auto found = block_of_.find(storage);
    if (found != block_of_.end()) needed.insert(found->second);
  }
  const bool are_whole = std::all_of(needed.begin(), needed.end(),
                                     [this](size_t block) { return blocks_[block].is_whole; });
  if (are_whole) return;
  for (size_t block = 0; block < blocks_.size() && is_outermost; ++block) {
    if (needed.count(block) == 0) LetGo(blocks_[block]);
  }
  for (const size_t block : needed) {
    if (blocks_[block].is_whole) continue;
    Gather(block);
    Prefetch(block);
  }
}

ShardedParameters::Coming ShardedParameters::Begin(size_t block) const {
  Coming coming{block, {}};
  for (const Shards::Bundle& bundle : blocks_[block].bundles) {
    coming.ends.push_back(shards_.BeginPuttingTogether(bundle));
  }
  return coming;
}

// A pass cannot end where a collective fails, inside an operator: it goes on, with any numbers.
void ShardedParameters::Gather(size_t block) {
  if (blocks_[block].is_whole) return;
  for (const Tensor& whole : blocks_[block].wholes) Allocate(whole);
  blocks_[block].is_whole = true;
  if (failure_) return;
  try {
    const std::optional<Coming> before = std::exchange(coming_, std::nullopt);
    const Coming coming = before && before->block == block ? *before : Begin(block);
    for (const auto& end : coming.ends) end();
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void ShardedParameters::Prefetch(size_t block) {
  const std::optional<size_t> next = order_.After(block);
  if (failure_ || !next || blocks_[*next].is_whole) return;
  try {
    coming_ = Begin(*next);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void ShardedParameters::LetGo(Block& block) {
  if (stays_whole_ || !block.is_whole) return;
  block.is_whole = false;
  for (const Tensor& whole : block.wholes) {
    c10::StorageImpl& storage = StorageOf(whole);
    storage.set_data_ptr_noswap(at::DataPtr(nullptr, storage.device()));
    storage.set_nbytes(0);
  }
}

void ShardedParameters::LetGoAll() {
  coming_.reset();
  for (Block& block : blocks_) LetGo(block);
}

}  // namespace dlcheck::reference
