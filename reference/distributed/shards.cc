#include "reference/distributed/shards.h"

#include <algorithm>

#include "reference/distributed/collectives.h"
#include "reference/distributed/group.h"

namespace dlcheck::reference {
namespace {

using torch::Tensor;

constexpr int64_t kTogether = int64_t{25} << 20;  // bytes of one collective

// This rank's stretch of a tensor, without filling; a view.
Tensor StretchIn(const Tensor& whole, const Ranks& ranks) {
  const int64_t stretch = StretchOf(whole.numel(), ranks.world());
  const int64_t begin = std::min(ranks.rank() * stretch, whole.numel());
  return whole.view(-1).slice(0, begin, std::min(begin + stretch, whole.numel()));
}

// Of every rank as long as any: filled up with zeros.
Tensor Filled(const Tensor& own, int64_t stretch) {
  return at::constant_pad_nd(own.view(-1), {0, stretch - own.numel()});
}

}  // namespace

int64_t StretchOf(int64_t numbers, int64_t world) {
  constexpr int64_t kAligned = 64;
  const int64_t least = (numbers + world - 1) / world;
  return (least + kAligned - 1) / kAligned * kAligned;
}

Shards::Shards(const Ranks& ranks,
               const std::vector<std::pair<std::string, torch::Tensor>>& parameters)
    : ranks_(ranks) {
  for (const auto& [name, whole] : parameters) {
    TORCH_CHECK(whole.is_contiguous(), "parameter '", name, "' is not contiguous");
    parts_.push_back({name, whole, StretchIn(whole.detach(), ranks).clone().requires_grad_()});
  }
}

void Shards::TakeParameters() {
  const torch::NoGradGuard no_grad;
  for (const Part& part : parts_) part.own.copy_(StretchIn(part.whole.detach(), ranks_));
}

void Shards::TakeGradients() {
  for (const Part& part : parts_) {
    Tensor& gradient = part.whole.mutable_grad();
    if (!gradient.defined()) continue;
    part.own.mutable_grad() = StretchIn(gradient.contiguous(), ranks_).clone();
    gradient = Tensor();
  }
}

void Shards::PutTogether() {
  const torch::NoGradGuard no_grad;
  for (size_t begin = 0; begin < parts_.size();) {
    // Of one type, and as many as fit.
    const at::ScalarType type = parts_[begin].whole.scalar_type();
    std::vector<Tensor> filled;
    size_t end = begin;
    for (int64_t bytes = 0; end < parts_.size() && bytes < kTogether; ++end) {
      const Part& part = parts_[end];
      if (part.whole.scalar_type() != type) break;
      filled.push_back(Filled(part.own, StretchOf(part.whole.numel(), ranks_.world())));
      bytes += static_cast<int64_t>(filled.back().nbytes());
    }
    Tensor own = at::cat(filled);
    Tensor all = at::empty({ranks_.world() * own.numel()}, own.options());
    AllGather(*ranks_.group().process_group, all, own)->wait();
    all = all.view({ranks_.world(), -1});
    for (int64_t place = 0; begin < end; ++begin) {
      const Tensor& whole = parts_[begin].whole;
      const int64_t stretch = StretchOf(whole.numel(), ranks_.world());
      const Tensor flat = all.slice(1, place, place + stretch).reshape(-1);
      whole.detach().copy_(flat.slice(0, 0, whole.numel()).view_as(whole));
      place += stretch;
    }
  }
}

Tensor Shards::Whole(const Part& part, const Tensor& own) const {
  const torch::NoGradGuard no_grad;
  const int64_t stretch = StretchOf(part.whole.numel(), ranks_.world());
  Tensor filled = Filled(own, stretch);
  Tensor all = at::empty({ranks_.world() * stretch}, own.options());
  AllGather(*ranks_.group().process_group, all, filled)->wait();
  return all.slice(0, 0, part.whole.numel()).view_as(part.whole);
}

}  // namespace dlcheck::reference
