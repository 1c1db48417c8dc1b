// The part of the recorder that is about losses: those that a program reports, and those that are
// seen as they return.
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "checks/observe/probe/loss_inputs.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {
namespace {

// The mean over all targets of a loss of single numbers, one element in float64, and how many there
// are; undefined if its result is neither their mean nor their sum.
std::pair<at::Tensor, int64_t> MeanOfResult(const LossCall& call) {
  const bool is_mean = call.reduction == "mean";
  const bool is_either = is_mean || call.reduction == "sum";
  if (!is_either || call.kind == "kl" || call.result.numel() != 1) return {};
  const int64_t count = call.targets.numel();
  const at::Tensor result = call.result.detach().to(at::kDouble).reshape({1});
  return {is_mean ? result : result / static_cast<double>(count), count};
}

}  // namespace

void ProbeRecorder::Loss(const at::Tensor& loss, const at::Tensor& outputs,
                         const at::Tensor& targets, const Probe::Site& site) {
  ranks_.EndForward();
  const std::string kind = outputs.defined() ? LossKind(outputs, targets) : "";
  if (clock_.step() == 0 && kind.empty() && outputs.defined()) {
    compares_all_ = compares_all_ || ComparesAll(loss, outputs, targets);
  }
  const bool spreads = kind.empty() && compares_all_;
  loss_thing_ =
      LossThing(clock_, spreads ? "mse" : kind, kind == "cross_entropy" ? outputs.size(1) : 0);
  loss_site_ = Site(site);
  if (clock_.step() == 0 && outputs.defined()) DescribeLoss(loss, outputs, targets, kind);
  if (loss.numel() != 1 || !clock_.takes_scalars()) return;
  if (clock_.sampled() && !kind.empty()) {
    const auto [mean, count] = MeanLossOf(kind, outputs, targets);
    WriteLossShare(loss, mean, count);
  }
  WriteLoss(loss, outputs.defined() ? static_cast<double>(targets.size(0)) : 0);
}

void ProbeRecorder::WriteLoss(const at::Tensor& loss, double samples) {
  clock_.transfer().Add(loss, [this, about = ProbeClock::About{loss_thing_, 0, loss_site_}, samples,
                               moment = clock_.now()](const std::vector<double>& values) {
    clock_.Put(Quantity::kLoss, about, moment, values[0], samples);
  });
}

uint32_t ProbeRecorder::LossReturned(const LossCall& call) {
  const bool has_classes = call.kind == "cross_entropy" || call.kind == "nll";
  const bool is_usual = has_classes ? LossKind(call.outputs, call.targets) == "cross_entropy"
                                    : call.outputs.sizes() == call.targets.sizes();
  returned_ = {};
  returned_.thing = ThingOfLoss(clock_, call.kind, call.function, call.outputs);
  returned_.node = call.result.grad_fn();
  returned_.samples = call.targets.dim() > 0 ? static_cast<double>(call.targets.size(0)) : 1;
  if (!call.reduction.empty()) {
    clock_.writer().Attribute(returned_.thing, "reduction", call.reduction);
  }
  if (!call.broadcast.empty()) TellOnce(returned_.thing, "broadcast", call.broadcast);
  if (!is_usual) return returned_.thing;
  DescribeMaker(call);
  const bool is_divergence =
      call.kind == "kl" && call.outputs.dim() == 2 && call.reduction != "none";
  if (is_divergence && clock_.sampled()) WriteRows(clock_, returned_.thing, call);
  if (has_classes) {
    WriteRows(clock_, returned_.thing, call);
    if (call.targets.size(0) == batch_samples_) classes_.Add(call, returned_.thing, clock_);
    if (tokens_.defined()) WriteTargetShift(clock_, returned_.thing, tokens_, call.targets);
  }
  if (clock_.step() == 0 && (has_classes || call.kind == "mse")) {
    loss_thing_ = returned_.thing;
    DescribeLoss(call.result, call.outputs, call.targets, call.kind);
  }
  std::tie(returned_.mean, returned_.targets) = MeanLossOf(call.kind, call.outputs, call.targets);
  if (!returned_.mean.defined() && !has_classes) {
    std::tie(returned_.mean, returned_.targets) = MeanOfResult(call);
  }
  return returned_.thing;
}

// What made its input, where that does not fit every loss function.
void ProbeRecorder::DescribeMaker(const LossCall& call) {
  const std::string maker = MakerOf(call.outputs), sigmoid_of = SigmoidOf(call.outputs);
  if (!sigmoid_of.empty()) TellOnce(returned_.thing, "sigmoid_of", sigmoid_of);
  const bool takes_logits =
      call.kind == "cross_entropy" || call.function == "binary_cross_entropy_with_logits";
  const bool is_odd = takes_logits || (maker == "softmax" && call.kind != "mse");
  if (maker.empty() || !is_odd) return;
  TellOnce(returned_.thing, "input_from", maker);
  const bool competes = maker == "softmax" && call.function == "binary_cross_entropy";
  if (competes && SeveralTrue(call.outputs, call.targets)) {
    TellOnce(returned_.thing, "several_true", "1");
  }
}

void ProbeRecorder::TellOnce(uint32_t thing, const char* key, const std::string& value) {
  std::string& told = told_[{thing, key}];
  if (std::exchange(told, value) != value) clock_.writer().Attribute(thing, key, value);
}

bool ProbeRecorder::IsFromReturned(const at::Tensor& root, const ReturnedLoss& returned) {
  constexpr int kLongestChain = 16;
  const std::shared_ptr<torch::autograd::Node> made = returned.node.lock();
  torch::autograd::Node* node = root.grad_fn().get();
  for (int i = 0; i < kLongestChain && made != nullptr && node != nullptr; ++i) {
    if (node == made.get()) return true;
    torch::autograd::Node* before = nullptr;
    for (const torch::autograd::Edge& edge : node->next_edges()) {
      if (edge.function != nullptr && before != nullptr) return false;
      if (edge.function != nullptr) before = edge.function.get();
    }
    node = before;
  }
  return false;
}

void ProbeRecorder::BackwardFrom(const at::Tensor& root, const Probe::Site& site) {
  ranks_.EndForward();
  const ReturnedLoss returned = std::exchange(returned_, {});
  tokens_.reset();
  const bool is_known = returned.thing != 0 && IsFromReturned(root, returned);
  loss_site_ = Site(site);
  // Functions are looked at in sampled steps alone; those between are taken to be the same.
  if (is_known || clock_.sampled()) {
    usual_loss_thing_ = is_known ? returned.thing : LossThing(clock_, "", 0);
    usual_loss_samples_ = is_known ? returned.samples : 0;
  }
  loss_thing_ = usual_loss_thing_;
  if (root.numel() != 1 || !clock_.takes_scalars()) return;
  if (is_known && clock_.sampled()) WriteLossShare(root, returned.mean, returned.targets);
  WriteLoss(root, usual_loss_samples_);
}

// In the first step alone: what it says does not change.
void ProbeRecorder::DescribeLoss(const at::Tensor& loss, const at::Tensor& outputs,
                                 const at::Tensor& targets, const std::string& kind) {
  if (!kind.empty()) initial_.Add(kind, outputs, targets);
  if (kind.empty() && compares_all_) {
    clock_.writer().Attribute(loss_thing_, "broadcast", Shape(outputs) + " and " + Shape(targets));
  }
  const std::string input_from = kind == "cross_entropy" ? InputFrom(loss, outputs) : "";
  if (!input_from.empty()) clock_.writer().Attribute(loss_thing_, "input_from", input_from);
}

void ProbeRecorder::WriteLossShare(const at::Tensor& loss, const at::Tensor& mean, int64_t count) {
  if (!mean.defined()) return;
  const at::Tensor share = loss.detach().to(at::kDouble).reshape({1}) / mean;
  clock_.transfer().Add(share, [this, count, about = ProbeClock::About{loss_thing_, 0},
                                moment = clock_.now()](const std::vector<double>& values) {
    if (!std::isfinite(values[0])) return;
    clock_.Put(Quantity::kLossShare, about, moment, values[0], static_cast<double>(count));
  });
}

}  // namespace dlcheck
