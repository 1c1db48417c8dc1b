#include "checks/observe/preload/losses/attention_reach.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/given_tensors.h"
#include "checks/observe/preload/losses/padding.h"
#include "checks/observe/probe/loss_inputs.h"

namespace dlcheck {
namespace {

constexpr int64_t kStepsOfReach = 3;
constexpr int kMostLooksAtReach = 16;                   // of a step
constexpr int64_t kMostWeightsRead = int64_t{1} << 22;  // that are read at a time
constexpr size_t kMostTokenTensors = 4;
constexpr int64_t kMostInFront = 2;   // positions before the tokens, as one for the class
constexpr double kHides = -1e4;       // a number that a mask adds: as low as this, it hides
constexpr double kLeastReach = 1e-6;  // of a weight that is worth a word

// weights (rows, queries, keys) as (batch or 1, heads, queries, keys).
at::Tensor OfHeads(const at::Tensor& weights, int64_t batch) {
  const int64_t rows = weights.size(0);
  return weights.reshape({rows == 1 ? 1 : batch, std::max<int64_t>(1, rows / batch),
                          weights.size(1), weights.size(2)});
}

// The largest weight that a real token gives to padding; nothing if the shapes do not fit.
std::optional<double> WeightOfPadding(const at::Tensor& weights, const at::Tensor& padding) {
  const int64_t batch = padding.size(0), front = weights.size(2) - padding.size(1);
  const int64_t rows = weights.size(0);
  if (front < 0 || front > kMostInFront || (rows % batch != 0 && rows != 1)) return std::nullopt;
  const at::Tensor split = OfHeads(weights, batch).narrow(3, front, padding.size(1));
  at::Tensor hidden = padding.unsqueeze(1).unsqueeze(1);
  if (weights.size(1) == weights.size(2)) {
    const at::Tensor ahead = at::ones({batch, front}, padding.options());
    const at::Tensor real = at::cat({ahead, padding.logical_not()}, 1);
    hidden = hidden.logical_and(real.unsqueeze(1).unsqueeze(-1));
  }
  return at::where(hidden, split, at::zeros({}, split.options())).max().item<double>();
}

// Whether, in rows with padding, real tokens give all of their weight to padding.
bool HidesTokens(const at::Tensor& weights, const at::Tensor& padding) {
  const int64_t batch = padding.size(0), positions = padding.size(1);
  if (weights.size(1) != positions || weights.size(2) != positions || weights.size(0) % batch) {
    return false;
  }
  const at::Tensor padded = padding.any(1).nonzero().flatten();
  const at::Tensor split = OfHeads(weights, batch).index_select(0, padded);
  const at::Tensor real = padding.index_select(0, padded).logical_not();
  const at::Tensor both =
      real.unsqueeze(1).unsqueeze(-1).logical_and(real.unsqueeze(1).unsqueeze(1));
  return at::where(both, split, at::zeros({}, split.options())).max().item<double>() < kLeastReach;
}

}  // namespace

bool AttentionReach::Is(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  return name == "aten::softmax" || name == "aten::scaled_dot_product_attention";
}

bool AttentionReach::IsLooking(ProbeRecorder& recorder) {
  const int64_t step = recorder.clock().step();
  if (std::exchange(step_, step) != step) {  // what the step before left is of no more use
    looks_ = 0;
    tokens_.clear();
    padded_.clear();
    next_.clear();
  }
  return step < kStepsOfReach;
}

void AttentionReach::Tokens(const at::Tensor& tokens, ProbeRecorder& recorder) {
  if (!IsLooking(recorder) || !IsAtHand(tokens) || tokens.dim() != 2) return;
  if (tokens.scalar_type() != at::kLong && tokens.scalar_type() != at::kInt) return;
  if (tokens_.size() >= kMostTokenTensors) tokens_.erase(tokens_.begin());
  tokens_.push_back(tokens.detach().clone());
  const at::Tensor padding = PaddingOf(tokens_.back());
  if (padding.defined()) padded_.push_back({tokens_.back(), padding});
}

void AttentionReach::Begins(const at::RecordFunction& function, ProbeRecorder& recorder) {
  if (!IsLooking(recorder)) return;
  if (std::string_view(function.name()) == "aten::softmax") {
    const auto given = function.inputs();
    const at::Tensor scores = TensorGiven(function, 0);
    const int64_t axis = given.size() > 1 && given[1].isInt() ? given[1].toInt() : 0;
    is_along_last_ = scores.defined() && (axis == -1 || axis == scores.dim() - 1);
    return;
  }
  const at::Tensor query = TensorGiven(function, 0), key = TensorGiven(function, 1);
  const at::Tensor mask = TensorGiven(function, 3);
  if (!query.defined() || !key.defined() || query.dim() < 3) return;
  const int64_t queries = query.size(-2), keys = key.size(-2);
  const auto inputs = function.inputs();
  const bool is_causal = inputs.size() > 5 && inputs[5].isBool() && inputs[5].toBool();
  if (queries * keys * query.size(0) > kMostWeightsRead) return;
  at::Tensor shown = at::ones({1, queries, keys});
  if (is_causal) shown = shown.tril();
  if (mask.defined()) {
    if (!IsAtHand(mask) || mask.dim() < 2) return;
    shown = mask.scalar_type() == at::kBool ? mask.detach() : mask.detach().gt(kHides);
    if (mask.dim() == 4 && mask.size(0) > 1) {
      shown = shown.expand({-1, query.size(1), -1, -1});
    }
    std::vector<int64_t> sizes = shown.sizes().vec();
    sizes[sizes.size() - 2] = queries;
    sizes[sizes.size() - 1] = keys;
    shown = shown.expand(sizes).reshape({-1, queries, keys}).to(at::kFloat);
  }
  Look(shown, recorder);
}

void AttentionReach::Returned(const at::RecordFunction& function, ProbeRecorder& recorder) {
  if (std::string_view(function.name()) != "aten::softmax" || !IsLooking(recorder)) return;
  if (function.outputs().size() != 1 || !function.outputs()[0].isTensor()) return;
  const at::Tensor& result = function.outputs()[0].toTensor();
  if (!IsAtHand(result) || result.dim() < 3 || !result.requires_grad()) return;
  if (!is_along_last_ || result.numel() == 0 || result.numel() > kMostWeightsRead) return;
  Look(result.detach().flatten(0, result.dim() - 3), recorder);
}

// weights (rows, queries, keys).
void AttentionReach::Look(const at::Tensor& weights, ProbeRecorder& recorder) {
  if (tokens_.empty() || ++looks_ > kMostLooksAtReach) return;
  LookAtPadding(weights, recorder);
  if (weights.size(1) != weights.size(2) || weights.size(2) < 2) return;
  const at::Tensor after = weights.diagonal(1, -2, -1);
  next_.push_back({after.clone(), weights.size(0), weights.size(2), CallSite()});
}

void AttentionReach::LookAtPadding(const at::Tensor& weights, ProbeRecorder& recorder) {
  std::optional<double> least;
  bool hides = !padded_.empty();
  for (const Padded& padded : padded_) {
    const std::optional<double> given = WeightOfPadding(weights, padded.padding);
    if (given) least = least ? std::min(*least, *given) : *given;
    hides = hides && HidesTokens(weights, padded.padding);
  }
  if (!least || *least <= kLeastReach) return;
  if (!hides) {
    Tell(Quantity::kWeightOfPadding, *least, padded_.front().padding.sum().item<double>(),
         CallSite(), recorder);
    return;
  }
  const Padded& first = padded_.front();
  const at::Tensor hidden = first.tokens.masked_select(first.padding.logical_not());
  Tell(Quantity::kInvertedMask, static_cast<double>(std::get<0>(at::_unique2(hidden)).numel()),
       static_cast<double>(hidden.numel()), CallSite(), recorder);
}

// Where several layers have the right shape, all of them must show the token: one may look at a
// source, which is as long by chance.
void AttentionReach::Given(const LossGiven& loss, ProbeRecorder& recorder) {
  if (next_.empty() || !IsLooking(recorder) || !loss.TakesClasses()) return;
  if (!IsAtHand(loss.targets) || loss.targets.is_floating_point()) return;
  const std::vector<Next> all = std::exchange(next_, {});
  for (const at::Tensor& tokens : tokens_) {
    if (ShiftOf(tokens, loss.targets) != 1) continue;
    const int64_t batch = tokens.size(0);
    const at::Tensor counted = loss.targets.detach().reshape({batch, -1}).ge(0);
    const int64_t positions = counted.size(1);
    std::optional<double> least;
    Probe::Site site{"", 0, ""};
    for (const Next& next : all) {
      if (next.keys < positions || next.keys > positions + 1) continue;
      if (next.rows % batch != 0 && next.rows != 1) continue;
      const at::Tensor split = next.weights.reshape(
          {next.rows == 1 ? 1 : batch, std::max<int64_t>(1, next.rows / batch), -1});
      const int64_t shown = std::min(split.size(2), positions);
      const at::Tensor known = counted.narrow(1, 0, shown).unsqueeze(1);
      const double most =
          at::where(known, split.narrow(2, 0, shown), at::zeros({}, split.options()))
              .max()
              .item<double>();
      if (!least) site = next.site;
      least = least ? std::min(*least, most) : most;
    }
    if (least && *least > kLeastReach) {
      Tell(Quantity::kWeightOfNextToken, *least, counted.sum().item<double>(), site, recorder);
    }
    return;
  }
}

void AttentionReach::Tell(Quantity quantity, double value, double aux, const Probe::Site& site,
                          ProbeRecorder& recorder) {
  if (!told_.insert(quantity).second) return;
  ProbeClock& clock = recorder.clock();
  clock.Put(quantity, {clock.writer().Thing("operation", 0, "attention"), 0, recorder.Site(site)},
            value, aux);
}

}  // namespace dlcheck
