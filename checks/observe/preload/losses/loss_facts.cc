#include "checks/observe/preload/losses/loss_facts.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/graph/negated_divergence.h"
#include "checks/observe/preload/graph_nodes.h"
#include "checks/observe/preload/recurrent_axes.h"

namespace dlcheck {
namespace {

constexpr int kMostScans = 8;
constexpr int64_t kMostTargetsRead = 1 << 16;
constexpr size_t kMostIgnored = 64;
constexpr int kLongestWayToLoss = 16;

// What the targets of a function are to be, and which of its arguments they are.
enum class Takes { kSigns, kCounts, kProbabilities };
struct Taken {
  Takes takes;
  size_t place;
  const char* name;
};
const Taken* TakenBy(std::string_view operation) {
  static const auto* all = new std::map<std::string_view, Taken>{
      {"aten::margin_ranking_loss", {Takes::kSigns, 2, "margin_ranking_loss"}},
      {"aten::hinge_embedding_loss", {Takes::kSigns, 1, "hinge_embedding_loss"}},
      {"aten::cosine_embedding_loss", {Takes::kSigns, 2, "cosine_embedding_loss"}},
      {"aten::soft_margin_loss", {Takes::kSigns, 1, "soft_margin_loss"}},
      {"aten::poisson_nll_loss", {Takes::kCounts, 1, "poisson_nll_loss"}},
      {"aten::kl_div", {Takes::kProbabilities, 1, "kl_div"}}};
  const auto found = all->find(operation);
  return found == all->end() ? nullptr : &found->second;
}

// Which targets are none that the function takes; undefined where that is not known.
at::Tensor WrongTargets(const Taken& taken, const at::Tensor& targets,
                        const at::RecordFunction& function) {
  if (taken.takes == Takes::kSigns) {  // beside -1, a 0 is a tie, as sign() gives it
    return targets.eq(-1).any().item<bool>() ? at::Tensor() : targets.ne(1);
  }
  const auto inputs = function.inputs();
  const bool are_logarithms = taken.takes == Takes::kProbabilities && inputs.size() > 3 &&
                              inputs[3].isBool() && inputs[3].toBool();
  return are_logarithms ? at::Tensor() : targets.lt(0);
}

bool IsMean(const std::string& name) { return name.rfind("MeanBackward", 0) == 0; }

}  // namespace

void LossFacts::Given(const LossGiven& loss, ProbeRecorder& recorder) {
  target_gradients_.Given(loss, recorder);
  outputs_.Given(loss, recorder);
  scales_.Trained(loss);
  confused_.Trained(loss, recorder);
  noise_.Given(loss, recorder);
  reach_.Given(loss, recorder);
  batches_.Given(loss, recorder);
  unused_.Given(loss, recorder);
  const bool may_be_averaged = loss.TakesClasses() && loss.result.dim() > 0 &&
                               !loss.targets.is_floating_point() && IsAtHand(loss.targets);
  if (!may_be_averaged || ignored_.size() >= kMostIgnored) return;
  const auto ignored = loss.targets.lt(0).sum().item<double>();
  if (ignored == 0) return;
  ignored_.push_back(
      {loss.result.grad_fn(), loss.thing, ignored, static_cast<double>(loss.targets.numel())});
}

void LossFacts::Evaluated(const LossGiven& loss, ProbeRecorder& recorder) {
  scales_.Evaluated(loss, recorder);
  confused_.Evaluated(loss, recorder);
  batches_.Evaluated(loss);
}

void LossFacts::LookAtTargets(const at::RecordFunction& function, ProbeRecorder& recorder) {
  const Taken* taken = TakenBy(function.name());
  if (taken == nullptr || !recorder.clock().sampled() || wrong_.count(taken->name) > 0) return;
  const auto inputs = function.inputs();
  if (taken->place >= inputs.size() || !inputs[taken->place].isTensor()) return;
  const at::Tensor& targets = inputs[taken->place].toTensor();
  if (!IsAtHand(targets) || targets.numel() == 0 || targets.numel() > kMostTargetsRead) return;
  const at::Tensor wrong = WrongTargets(*taken, targets.detach(), function);
  if (!wrong.defined() || !wrong.any().item<bool>()) return;
  wrong_.insert(taken->name);
  ProbeClock& clock = recorder.clock();
  clock.Put(Quantity::kWrongTargets,
            {clock.writer().Thing("loss", 0, taken->name), 0, recorder.Site(CallSite())},
            wrong.to(at::kDouble).mean().item<double>(), static_cast<double>(wrong.numel()));
}

bool LossFacts::Is(const at::RecordFunction& function, const ProbeClock& clock) const {
  if (batches_.Is(function) || RecurrentAxes::IsRecurrent(function)) return true;
  if (clock.step() >= OperationSites::kSteps) return false;
  return OperationSites::Is(function) || AttentionReach::Is(function);
}

void LossFacts::Begins(const at::RecordFunction& function, ProbeRecorder& recorder) {
  batches_.Begins(function);
  if (RecurrentAxes::IsRecurrent(function)) {
    states_.Begins(function, batches_.words(), recorder);
  }
  if (AttentionReach::Is(function)) reach_.Begins(function, recorder);
}

void LossFacts::Returned(const at::RecordFunction& function, ProbeRecorder& recorder) {
  batches_.Returned(function);
  if (RecurrentAxes::IsRecurrent(function)) {
    states_.Returned(function, batches_.is_shuffled(), recorder);
  }
  if (OperationSites::Is(function)) sites_.Returned(function);
  reach_.Returned(function, recorder);
}

void LossFacts::BackwardBegins(const at::Tensor& root, ProbeRecorder& recorder) {
  batches_.PassEnds();
  if (root.grad_fn() == nullptr) return;
  terms_.LookAtMean(root, recorder);
  unused_.BackwardBegins(root);
  LookAtIgnored(root, recorder);
  if (recorder.clock().step() >= OperationSites::kSteps || scans_ >= kMostScans) return;
  ++scans_;
  const WalkedGraph graph = WalkedGraph::Of(root);
  policy_.Look(graph, sites_, recorder);
  terms_.Look(graph, sites_, recorder);
  states_.Look(graph, recorder);
  norms_.Look(graph, recorder);
  LookAtDivergence(root, recorder);
  sites_.StepEnds();
}

void LossFacts::LookAtDivergence(const at::Tensor& root, ProbeRecorder& recorder) {
  if (subtracts_divergence_ || !SubtractsDivergence(root)) return;
  subtracts_divergence_ = true;
  ProbeClock& clock = recorder.clock();
  clock.Put(Quantity::kNegatedDivergence,
            {clock.writer().Thing("loss", 0, "loss"), 0, recorder.Site(CallSite())}, 1);
}

void LossFacts::StepEnds(int optimizer, ProbeRecorder& recorder) {
  batches_.StepEnds(recorder);
  weights_.StepEnds(optimizer, recorder);
  states_.StepEnds();
  unused_.StepEnds(optimizer, recorder);
}

// Whether nothing but one mean lies between a loss without reduction and the backward.
void LossFacts::LookAtIgnored(const at::Tensor& root, ProbeRecorder& recorder) {
  if (ignored_.empty()) return;
  const std::vector<Ignored> all = std::exchange(ignored_, {});
  const torch::autograd::Node* node = root.grad_fn().get();
  bool averaged = false;
  for (int i = 0; i < kLongestWayToLoss && node != nullptr; ++i) {
    for (const Ignored& one : all) {
      const auto made = one.node.lock();
      if (made == nullptr || made.get() != node) continue;
      if (!averaged) return;
      recorder.clock().Put(Quantity::kIgnoredInMean, {one.thing, 0, recorder.Site(CallSite())},
                           one.ignored, one.all);
      return;
    }
    const std::string name = node->name();
    averaged = averaged || IsMean(name);
    const bool passes = IsMean(name) || IsArranging(name) || name.rfind("MulBackward", 0) == 0 ||
                        name.rfind("DivBackward", 0) == 0;
    node = passes ? OnlyInput(*node) : nullptr;
  }
}

}  // namespace dlcheck
