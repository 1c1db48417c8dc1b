#include "checks/observe/probe/probe_loss.h"

#include <ATen/ExpandUtils.h>

#include <algorithm>
#include <cmath>

namespace dlcheck {
namespace {

constexpr int64_t kMostSamples = 4096;
// A vocabulary of 50,000 would otherwise cost seconds.
constexpr int64_t kMostElements = int64_t{1} << 24;
constexpr size_t kMostNodes = 64;
// Between a mean in the program's type and one in float64.
constexpr double kMeanRounding = 1e-4;
constexpr double kMostRoundings = 10;

}  // namespace

std::string LossKind(const at::Tensor& outputs, const at::Tensor& targets) {
  if (!outputs.is_floating_point() || outputs.dim() == 0) return "";
  if (outputs.dim() == 2 && targets.dim() == 1 && !targets.is_floating_point() &&
      outputs.size(0) == targets.size(0)) {
    return "cross_entropy";
  }
  return targets.is_floating_point() && outputs.sizes() == targets.sizes() ? "mse" : "";
}

uint32_t LossThing(ProbeClock& clock, const std::string& kind, int64_t classes,
                   const std::string& function) {
  if (kind.empty()) return clock.writer().Thing("loss", 0, "loss");
  const std::string usual = kind == "mse" || kind == "nll" ? kind + "_loss" : kind;
  const uint32_t thing = clock.writer().Thing("loss", 0, function.empty() ? usual : function);
  if (clock.IsFirstOf(thing)) {  // a later phase may have another loss
    clock.writer().Attribute(thing, "kind", kind);
    if (classes > 0) clock.writer().Attribute(thing, "classes", std::to_string(classes));
  }
  return thing;
}

uint32_t ThingOfLoss(ProbeClock& clock, const std::string& kind, const std::string& function,
                     const at::Tensor& outputs) {
  const bool has_classes = kind == "cross_entropy" || kind == "nll";
  const int64_t classes = has_classes && outputs.dim() > 1 ? outputs.size(1) : 0;
  return LossThing(clock, kind, classes, function);
}

std::pair<at::Tensor, int64_t> MeanLossOf(const std::string& kind, const at::Tensor& outputs,
                                          const at::Tensor& targets) {
  if (outputs.numel() > kMostElements / 4) return {};
  const at::Tensor scores = outputs.detach().to(at::kDouble);
  if (kind == "mse") {
    return {(scores - targets.detach().to(at::kDouble)).square().mean().reshape({1}),
            targets.numel()};
  }
  if (kind != "cross_entropy" && kind != "nll") return {};
  const at::Tensor kept = targets.detach().ge(0).nonzero().squeeze(1);  // negative: left out
  if (kept.numel() == 0) return {};
  const at::Tensor rows = scores.index_select(0, kept);
  const at::Tensor labels = targets.detach().index_select(0, kept).to(at::kLong);
  const at::Tensor chosen = rows.gather(1, labels.unsqueeze(1)).squeeze(1);
  const at::Tensor losses = kind == "nll" ? -chosen : rows.logsumexp(1) - chosen;
  return {losses.mean().reshape({1}), kept.numel()};
}

bool ComparesAll(const at::Tensor& loss, const at::Tensor& outputs, const at::Tensor& targets) {
  const bool could = loss.numel() == 1 && outputs.is_floating_point() &&
                     targets.is_floating_point() && outputs.dim() != targets.dim() &&
                     at::are_expandable(outputs.sizes(), targets.sizes());
  if (!could) return false;
  const std::vector<int64_t> shape = at::infer_size(outputs.sizes(), targets.sizes());
  const int64_t elements = c10::multiply_integers(shape);
  if (elements <= std::max(outputs.numel(), targets.numel()) || elements > kMostElements) {
    return false;
  }
  const at::Tensor scores = outputs.detach().to(at::kDouble);
  const at::Tensor answers = targets.detach().to(at::kDouble);
  const double value = loss.item<double>();
  const double mean = (scores - answers).square().mean().item<double>();
  if (!(std::abs(value - mean) < kMeanRounding * mean)) return false;
  if (scores.numel() != answers.numel()) return true;
  // Outputs that are all alike have the same mean, each with its own target.
  const double paired = (scores.flatten() - answers.flatten()).square().mean().item<double>();
  return std::abs(value - paired) > kMostRoundings * kMeanRounding * mean;
}

std::string InputFrom(const at::Tensor& loss, const at::Tensor& outputs) {
  const std::shared_ptr<torch::autograd::Node> made_by = outputs.grad_fn();
  if (made_by == nullptr || loss.grad_fn() == nullptr) return "";
  if (made_by->name().rfind("SoftmaxBackward", 0) != 0) return "";
  // Between the loss and the graph of the model there is little: a mean, a division.
  std::vector<torch::autograd::Node*> nodes = {loss.grad_fn().get()};
  for (size_t i = 0; i < nodes.size() && nodes.size() < kMostNodes; ++i) {
    const bool takes_logits = nodes[i]->name().rfind("LogSoftmaxBackward", 0) == 0;
    for (const torch::autograd::Edge& edge : nodes[i]->next_edges()) {
      if (takes_logits && edge.function == made_by) return "softmax";
      if (edge.function != nullptr) nodes.push_back(edge.function.get());
    }
  }
  return "";
}

void InitialLosses::Add(const std::string& kind, const at::Tensor& outputs,
                        const at::Tensor& targets) {
  const int64_t width = outputs.size(0) == 0 ? 1 : outputs.numel() / outputs.size(0);
  const int64_t rows =
      std::min({outputs.size(0), kMostSamples - samples_,
                std::max<int64_t>(1, kMostElements / std::max<int64_t>(1, width))});
  if (rows <= 0 || kind.empty() || (!kind_.empty() && kind != kind_)) return;
  kind_ = kind;
  const at::Tensor some = outputs.detach().narrow(0, 0, rows).to(at::kDouble);
  const at::Tensor answers = targets.detach().narrow(0, 0, rows);
  kind == "mse" ? AddNumbers(some, answers.to(at::kDouble)) : AddClasses(some, answers);
}

void InitialLosses::AddClasses(const at::Tensor& outputs, const at::Tensor& targets) {
  if (classes_ != 0 && classes_ != outputs.size(1)) return;
  classes_ = outputs.size(1);
  const at::Tensor kept = targets.ge(0).nonzero().squeeze(1);  // negative ones are left out
  const at::Tensor labels = targets.index_select(0, kept).to(at::kLong);
  const at::Tensor scores = outputs.index_select(0, kept);
  const at::Tensor whole = scores.logsumexp(1);
  const at::Tensor chosen = scores.gather(1, labels.unsqueeze(1)).squeeze(1);
  Keep({(whole - chosen).sum(), whole.sum(), labels.bincount({}, classes_).to(at::kDouble),
        scores.sum(0)});
  samples_ += kept.numel();
}

void InitialLosses::AddNumbers(const at::Tensor& outputs, const at::Tensor& targets) {
  Keep({(outputs - targets).square().sum(), outputs.sum(), outputs.square().sum(), targets.sum(),
        targets.square().sum()});
  elements_ += static_cast<double>(outputs.numel());
  samples_ += outputs.size(0);
}

void InitialLosses::Keep(const std::vector<at::Tensor>& parts) {
  if (sums_.empty()) {
    sums_ = parts;
    return;
  }
  for (size_t i = 0; i < parts.size(); ++i) sums_[i] = sums_[i] + parts[i];
}

void InitialLosses::Write(ProbeClock& clock) {
  if (samples_ == 0) return;
  double initial = 0, independent = 0, constant = 0;
  if (kind_ == "mse") {
    std::vector<double> means;
    for (const at::Tensor& sum : sums_) means.push_back(sum.item<double>() / elements_);
    const double spread = means[2] - means[1] * means[1];
    const double offset = means[1] - means[3];
    initial = means[0];
    constant = means[4] - means[3] * means[3];
    independent = spread + constant + offset * offset;
  } else {
    const auto n = static_cast<double>(samples_);
    const at::Tensor frequencies = sums_[2] / n;
    const at::Tensor seen = frequencies.gt(0);
    const at::Tensor pi = frequencies.masked_select(seen);
    initial = sums_[0].item<double>() / n;
    independent =
        sums_[1].item<double>() / n - (pi * sums_[3].masked_select(seen) / n).sum().item<double>();
    constant = -(pi * pi.log()).sum().item<double>();
  }
  const ProbeClock::About about{LossThing(clock, kind_, classes_)};
  clock.Put(Quantity::kInitialLoss, about, initial, static_cast<double>(samples_));
  clock.Put(Quantity::kIndependentLoss, about, independent, static_cast<double>(samples_));
  clock.Put(Quantity::kConstantLoss, about, constant, static_cast<double>(classes_));
}

}  // namespace dlcheck
