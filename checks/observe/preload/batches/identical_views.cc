#include "checks/observe/preload/batches/identical_views.h"

#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <cmath>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/graph_nodes.h"

namespace dlcheck {
namespace {

using torch::autograd::Node;

constexpr int kStepsOfViews = 3;  // the first compared ones, all of which must have equal views
constexpr int64_t kFewestViews = 4, kMostViews = 2048;
constexpr double kEqualScores = 4e-6;  // relative difference of cosines that are all 1
constexpr double kScoresApart = 1e-3;  // by how much the scores of other rows are smaller
constexpr int kMostBehindScores = 32;  // nodes of the graph

bool IsProduct(const std::string& name) {
  for (const char* word : {"mm", "Mm", "Conv", "conv", "Linear", "linear"}) {
    if (name.find(word) != std::string::npos) return true;
  }
  return false;
}

// Whether the scores are products of a parameter with as many rows, as of prototypes that are to
// lie far apart.
bool ComparesWeights(const at::Tensor& scores) {
  std::deque<std::pair<const Node*, int>> waiting = {{scores.grad_fn().get(), 0}};
  for (int i = 0; i < kMostBehindScores && !waiting.empty(); ++i) {
    auto [node, products] = waiting.front();
    waiting.pop_front();
    if (node == nullptr) continue;
    if (IsLeaf(*node)) {
      const at::Tensor& weight =
          static_cast<const torch::autograd::AccumulateGrad&>(*node).variable;
      if (weight.dim() == 2 && weight.size(0) == scores.size(0)) return true;
      continue;
    }
    products += IsProduct(node->name()) ? 1 : 0;
    if (products >= 2) continue;
    for (const torch::autograd::Edge& edge : node->next_edges()) {
      if (edge.function) waiting.emplace_back(edge.function.get(), products);
    }
  }
  return false;
}

// The score that all positives have in common, if it is the largest of each row and others are
// smaller.
std::optional<double> BestOfEqual(const at::Tensor& scores, const at::Tensor& targets) {
  if (targets.min().item<int64_t>() < 0 || targets.max().item<int64_t>() >= scores.size(1)) {
    return std::nullopt;
  }
  const at::Tensor own = scores.gather(1, targets.unsqueeze(1)).squeeze(1);
  const double best = own.max().item<double>();
  const double margin = kEqualScores * own.abs().max().item<double>();
  if (own.min().item<double>() < best - margin) return std::nullopt;
  if (scores.amax({1}).gt(own + margin).any().item<bool>()) return std::nullopt;
  const at::Tensor is_open = scores.isfinite().logical_and(scores.gt(-2 * std::abs(best)));
  const double usual =
      scores.masked_select(is_open).median().item<double>();  // without masked ones
  return usual < best - kScoresApart * std::abs(best) ? std::optional<double>(best) : std::nullopt;
}

}  // namespace

void IdenticalViews::Enters(const at::Tensor& input, ProbeRecorder& recorder) {
  if (!looks_at_inputs_) return;
  const int64_t step = recorder.clock().step();
  if (std::exchange(step_, step) != step) {
    given_.clear();
    twice_ = false;
  }
  const bool has_rows = IsAtHand(input) && input.is_floating_point() && input.dim() > 1;
  if (twice_ || !has_rows || input.size(0) < 2) return;
  const at::Tensor rows = input.detach();
  const int64_t half = rows.size(0) / 2;
  const bool is_known = !given_
                             .insert({rows.size(0), rows.to(at::kDouble).sum().item<double>(),
                                      rows.reshape({-1})[0].item<double>()})
                             .second;
  twice_ = is_known || rows.narrow(0, 0, half).equal(rows.narrow(0, half, half));
}

void IdenticalViews::Given(const LossGiven& loss, ProbeRecorder& recorder) {
  if (!loss.HasOneClassEach() || !IsAtHand(loss.outputs)) return;
  Found& found = found_[loss.thing];
  const int64_t rows = loss.outputs.size(0), columns = loss.outputs.size(1);
  const bool fits =
      rows >= kFewestViews && rows <= kMostViews && (columns == rows || columns == rows - 1) &&
      (loss.outputs.scalar_type() == at::kFloat || loss.outputs.scalar_type() == at::kDouble);
  if (found.is_settled || !fits) return;
  found.is_settled = ComparesWeights(loss.outputs);
  if (found.is_settled) return;
  const at::Tensor scores = loss.outputs.detach().to(at::kDouble);
  const at::Tensor targets = loss.targets.detach().to(at::kLong);
  std::optional<double> best = BestOfEqual(scores, targets);
  if (best && targets.equal(at::arange(rows, at::kLong)) && scores.allclose(scores.t())) {
    if (!std::exchange(looks_at_inputs_, true)) return;  // from the next step on
    if (!twice_) best.reset();
  }
  found.is_settled = !best || ++found.steps == kStepsOfViews;
  if (!best || !found.is_settled) return;
  looks_at_inputs_ = false;
  recorder.clock().Put(Quantity::kIdenticalViews, {loss.thing, 0, recorder.Site(CallSite())},
                       static_cast<double>(rows), *best);
}

}  // namespace dlcheck
