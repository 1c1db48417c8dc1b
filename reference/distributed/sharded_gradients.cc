#include "reference/distributed/sharded_gradients.h"

#include <torch/csrc/autograd/function_hook.h>

#include "reference/distributed/collectives.h"
#include "reference/distributed/group.h"

namespace dlcheck::reference {

using torch::Tensor;

struct ShardedGradients::Bucket {
  std::vector<size_t> parts;
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

ShardedGradients::ShardedGradients(const Ranks& ranks, const torch::nn::Module& module,
                                   const Shards& shards, bool finds_unused, int64_t bucket_bytes)
    : ranks_(ranks),
      parts_(shards.parts()),
      buffers_(ranks, module, /*is_on=*/true),
      was_used_(parts_.size()),
      finds_unused_(finds_unused) {
  int64_t bytes = bucket_bytes;
  // Gradients of the last parameters are ready first.
  for (size_t i = parts_.size(); i-- > 0;) {
    const Tensor& whole = parts_[i].whole;
    const bool is_other_type =
        !buckets_.empty() &&
        parts_[buckets_.back().parts.front()].whole.scalar_type() != whole.scalar_type();
    if (bytes >= bucket_bytes || is_other_type) {
      buckets_.emplace_back();
      bytes = 0;
    }
    buckets_.back().parts.push_back(i);
    buckets_.back().awaited = buckets_.back().parts.size();
    bytes += static_cast<int64_t>(whole.nbytes());
    torch::autograd::impl::set_post_acc_grad_hooks(
        whole, std::make_unique<Arrival>(*this, buckets_.size() - 1));
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
  while (next_ < buckets_.size() && buckets_[next_].awaited == 0) Share(buckets_[next_++]);
}

void ShardedGradients::Share(Bucket& bucket) {
  const torch::NoGradGuard no_grad;
  std::vector<Tensor> stretches;  // (W, n) of each parameter
  for (const size_t i : bucket.parts) {
    const Tensor& whole = parts_[i].whole;
    Tensor& gradient = whole.mutable_grad();
    was_used_[i] = gradient.defined() ? 1 : 0;
    const Tensor flat =
        gradient.defined() ? gradient.reshape(-1) : at::zeros({whole.numel()}, whole.options());
    const int64_t filled = StretchOf(whole.numel(), ranks_.world()) * ranks_.world();
    stretches.push_back(
        at::constant_pad_nd(flat, {0, filled - whole.numel()}).view({ranks_.world(), -1}));
    gradient = Tensor();
  }
  // The mean by a product before the sum, as c10d's Reducer takes it.
  bucket.input = at::cat(stretches, 1).mul_(1.0 / static_cast<double>(ranks_.world())).view(-1);
  bucket.output = at::empty({bucket.input.numel() / ranks_.world()}, bucket.input.options());
  bucket.work = ReduceScatter(*ranks_.group().process_group, bucket.output, bucket.input);
}

void ShardedGradients::Keep(Bucket& bucket) {
  bucket.work->wait();
  int64_t place = 0;
  for (const size_t i : bucket.parts) {
    const Tensor& own = parts_[i].own;
    own.mutable_grad() = bucket.output.slice(0, place, place + own.numel());
    place += StretchOf(parts_[i].whole.numel(), ranks_.world());
  }
  bucket.awaited = bucket.parts.size();
  bucket.input = bucket.output = Tensor();
  bucket.work.reset();
}

void ShardedGradients::DropUnused() {
  const std::vector<double> users = ranks_.Sums(was_used_);
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (users[i] == 0) parts_[i].own.mutable_grad() = Tensor();
  }
}

void ShardedGradients::AfterBackward(bool shared) {
  is_on_ = false;
  if (!shared) return;
  for (; next_ < buckets_.size(); ++next_) Share(buckets_[next_]);
  for (Bucket& bucket : buckets_) Keep(bucket);
  if (finds_unused_) DropUnused();
  next_ = 0;
}

}  // namespace dlcheck::reference
