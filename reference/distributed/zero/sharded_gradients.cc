#include "reference/distributed/zero/sharded_gradients.h"

#include <torch/csrc/autograd/function_hook.h>

#include "reference/distributed/ddp/gradient_compression.h"
#include "reference/distributed/process_group/collectives.h"
#include "reference/distributed/process_group/group.h"

namespace dlcheck::reference {

using torch::Tensor;

struct ShardedGradients::Bucket {
  Shards::Bundle bundle;
  size_t awaited = 0;  // gradients that are not there yet
  Tensor input, output;
  c10::intrusive_ptr<c10d::Work> work;
};

class ShardedGradients::Arrival : public torch::autograd::PostAccumulateGradHook {
 public:
  Arrival(ShardedGradients& to, size_t bucket) : to_(to), bucket_(bucket) {}
  void operator()(const Tensor& /*parameter*/) override { to_.Arrived(bucket_); }

 private:
  ShardedGradients& to_;
  size_t bucket_;
};

ShardedGradients::ShardedGradients(const ShardGroups& groups, const torch::nn::Module& module,
                                   const Shards& shards, const Options& options)
    : groups_(groups),
      parts_(shards.parts()),
      buffers_(groups.all, module, /*is_on=*/true),
      was_used_(parts_.size()),
      options_(options) {
  // Gradients of the last parameters are ready first.
  for (size_t i = shards.bundles().size(); i-- > 0;) {
    const Shards::Bundle& bundle = shards.bundles()[i];
    buckets_.emplace_back().bundle = bundle;
    buckets_.back().awaited = bundle.end - bundle.begin;
    for (size_t place = bundle.begin; place < bundle.end; ++place) {
      torch::autograd::impl::set_post_acc_grad_hooks(
          parts_[place].whole, std::make_unique<Arrival>(*this, buckets_.size() - 1));
    }
  }
}

ShardedGradients::~ShardedGradients() {
  for (const Shards::Part& part : parts_) {
    torch::autograd::impl::set_post_acc_grad_hooks(part.whole, nullptr);
  }
}

void ShardedGradients::Arrived(size_t bucket) {
  if (!is_on_) return;
  --buckets_[bucket].awaited;
  while (next_ < buckets_.size() && buckets_[next_].awaited == 0) ShareNext();
}

// Two are under way at most, as each takes the memory of a whole one.
void ShardedGradients::ShareNext() {
  Share(buckets_[next_]);
  if (next_ > 0) Keep(buckets_[next_ - 1]);
  ++next_;
}

void ShardedGradients::Share(Bucket& bucket) {
  const torch::NoGradGuard no_grad;
  const int64_t world = groups_.within.world();
  std::vector<Tensor> stretches;  // (W, n) of each parameter
  for (size_t i = bucket.bundle.begin; i < bucket.bundle.end; ++i) {
    const Tensor& whole = parts_[i].whole;
    Tensor& gradient = whole.mutable_grad();
    was_used_[i] = gradient.defined() ? 1 : 0;
    const Tensor flat =
        gradient.defined() ? gradient.reshape(-1) : at::zeros({whole.numel()}, whole.options());
    const int64_t filled = StretchOf(whole.numel(), world) * world;
    stretches.push_back(at::constant_pad_nd(flat, {0, filled - whole.numel()}).view({world, -1}));
    gradient = Tensor();
  }
  bucket.input = PartOfMean(at::cat(stretches, 1)).view(-1);
  bucket.output = at::empty({bucket.input.numel() / world}, bucket.input.options());
  bucket.work = ReduceScatter(*groups_.within.group().process_group, bucket.output, bucket.input);
}

// By a product before the sum, as c10d's Reducer takes the mean.
Tensor ShardedGradients::PartOfMean(Tensor gradients) const {
  const int64_t world = groups_.all.world();
  return options_.compresses ? PartOfMeanInBf16(gradients, world)
                             : gradients.mul_(1.0 / static_cast<double>(world));
}

void ShardedGradients::Keep(Bucket& bucket) {
  bucket.work->wait();
  if (groups_.across.are_many()) {
    std::vector<Tensor> stretch = {bucket.output};
    groups_.across.group().process_group->allreduce(stretch)->wait();
  }
  bucket.output = bucket.output.to(parts_[bucket.bundle.begin].whole.scalar_type());
  int64_t place = 0;
  for (size_t i = bucket.bundle.begin; i < bucket.bundle.end; ++i) {
    const Tensor& own = parts_[i].own;
    own.mutable_grad() = bucket.output.slice(0, place, place + own.numel());
    place += StretchOf(parts_[i].whole.numel(), groups_.within.world());
  }
  bucket.awaited = bucket.bundle.end - bucket.bundle.begin;
  bucket.input = bucket.output = Tensor();
  bucket.work.reset();
}

void ShardedGradients::DropUnused() {
  const std::vector<double> users = groups_.all.Sums(was_used_);
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (users[i] == 0) parts_[i].own.mutable_grad() = Tensor();
  }
}

void ShardedGradients::AfterBackward(bool shared) {
  is_on_ = false;
  if (!shared) return;
  while (next_ < buckets_.size()) ShareNext();
  if (!buckets_.empty()) Keep(buckets_.back());
  if (options_.finds_unused) DropUnused();
  next_ = 0;
}

}  // namespace dlcheck::reference
