#include "reference/distributed/zero/shards.h"

#include <algorithm>

#include "reference/distributed/process_group/collectives.h"
#include "reference/distributed/process_group/group.h"

namespace dlcheck::reference {
namespace {

using torch::Tensor;

constexpr int64_t kTogether = int64_t{25} << 20;  // bytes of one collective
constexpr size_t kTags = 256;                     // whole numbers that bf16 has

// This rank's stretch of a tensor, without filling; a view.
Tensor StretchIn(const Tensor& whole, const Ranks& ranks) {
  const int64_t stretch = StretchOf(whole.numel(), ranks.world());
  const int64_t begin = std::min(ranks.rank() * stretch, whole.numel());
  return whole.view(-1).slice(0, begin, std::min(begin + stretch, whole.numel()));
}

// `tags` (W) of all ranks are to be one.
void NeedTag(const Tensor& tags, double tag) {
  for (int64_t rank = 0; rank < tags.numel(); ++rank) {
    TORCH_CHECK(tags[rank].item<double>() == tag, "rank ", rank,
                " uses another part of the model: all are to use the same in one order");
  }
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

Tensor KeptOf(const Shards* shards, const Tensor& parameter) {
  const Shards::Part* part = shards == nullptr ? nullptr : shards->PartOf(parameter);
  return part == nullptr ? parameter : part->own;
}

Shards::Shards(const Ranks& ranks,
               const std::vector<std::pair<std::string, torch::Tensor>>& parameters,
               const std::vector<int64_t>& blocks)
    : ranks_(ranks) {
  for (const auto& [name, whole] : parameters) {
    TORCH_CHECK(whole.is_contiguous(), "parameter '", name, "' is not contiguous");
    const size_t place = parts_.size();
    places_[whole.unsafeGetTensorImpl()] = place;
    const Tensor stretch = StretchIn(whole.detach(), ranks);
    const Tensor own = blocks.empty() ? stretch : stretch.clone();
    parts_.push_back({name, whole, own.requires_grad_(), blocks.empty() ? 0 : blocks[place]});
  }
  Bind();
}

void Shards::Bind() {
  int64_t bytes = 0;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Part* first = bundles_.empty() ? nullptr : &parts_[bundles_.back().begin];
    if (first == nullptr || bytes >= kTogether || first->block != parts_[i].block ||
        first->whole.scalar_type() != parts_[i].whole.scalar_type()) {
      bundles_.push_back({i, i});
      bytes = 0;
    }
    bundles_.back().end = i + 1;
    bytes += static_cast<int64_t>(parts_[i].whole.nbytes());
  }
}

const Shards::Part* Shards::PartOf(const Tensor& parameter) const {
  const auto found = places_.find(parameter.unsafeGetTensorImpl());
  return found == places_.end() ? nullptr : &parts_[found->second];
}

void Shards::TakeGradients() {
  for (const Part& part : parts_) {
    Tensor& gradient = part.whole.mutable_grad();
    if (!gradient.defined()) continue;
    part.own.mutable_grad() = StretchIn(gradient.contiguous(), ranks_);
    gradient = Tensor();
  }
}

void Shards::PutTogether() {
  for (const Bundle& bundle : bundles_) BeginPuttingTogether(bundle)();
  for (const Part& part : parts_) part.whole.unsafeGetTensorImpl()->bump_version();
}

std::function<void()> Shards::BeginPuttingTogether(const Bundle& bundle) const {
  const torch::NoGradGuard no_grad;
  std::vector<Tensor> filled;
  for (size_t i = bundle.begin; i < bundle.end; ++i) {
    filled.push_back(Filled(parts_[i].own, StretchOf(parts_[i].whole.numel(), ranks_.world())));
  }
  // Last, which bundle it is, as a number that any type has.
  const auto tag = static_cast<double>(bundle.begin % kTags);
  filled.push_back(at::full({1}, tag, filled.back().options()));
  Tensor own = at::cat(filled);
  Tensor all = at::empty({ranks_.world() * own.numel()}, own.options());
  const c10::intrusive_ptr<c10d::Work> work = AllGather(*ranks_.group().process_group, all, own);
  return [this, bundle, tag, own, all, work] {
    const torch::NoGradGuard without_grad;
    work->wait();
    NeedTag(all.view({ranks_.world(), -1}).select(1, -1), tag);
    int64_t place = 0;
    for (size_t i = bundle.begin; i < bundle.end; ++i) {
      const Tensor whole = parts_[i].whole.variable_data();
      const int64_t stretch = StretchOf(whole.numel(), ranks_.world());
      const Tensor flat =
          all.view({ranks_.world(), -1}).slice(1, place, place + stretch).reshape(-1);
      whole.copy_(flat.slice(0, 0, whole.numel()).view_as(whole));
      place += stretch;
    }
  };
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
