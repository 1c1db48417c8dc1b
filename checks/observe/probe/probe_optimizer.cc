#include "checks/observe/probe/probe_optimizer.h"

#include <ATen/autocast_mode.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace dlcheck {
namespace {

// Copies of weights for one step; a parameter beyond them waits for a later sampled step.
constexpr size_t kMostCopiedBytes = size_t{1} << 20;
constexpr size_t kMostCopiedBytesOnDevice = size_t{64} << 20;
// So many parameters from the input on are near it.
constexpr size_t kFirstParameters = 8;

bool AllFinite(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return std::isfinite(sum);
}

std::vector<at::Tensor> Detached(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> detached;
  for (const at::Tensor& tensor : tensors) detached.push_back(tensor.detach());
  return detached;
}

std::vector<at::Tensor> Gradients(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters) gradients.push_back(parameter.grad());
  return gradients;
}

}  // namespace

ProbeOptimizer::ProbeOptimizer(ProbeClock& clock, ProbeModels& models, int ordinal,
                               std::string_view type, std::vector<Probe::Group> groups,
                               Probe::Rule rule)
    : clock_(&clock),
      models_(&models),
      name_("optimizer#" + std::to_string(ordinal)),
      thing_(clock.writer().Thing("optimizer", ordinal, "")),
      groups_(std::move(groups)),
      keeps_state_(rule.keeps_state),
      update_check_(clock, std::move(rule), thing_) {
  type_ = std::string(type.substr(type.rfind(':') + 1));
  clock.writer().Attribute(thing_, "type", type_);
  for (size_t i = 0; i < groups_.size(); ++i) {
    const std::string group = name_ + "/group#" + std::to_string(i);
    group_things_.push_back(clock.writer().Thing("group", ordinal, group));
    for (size_t place = 0; place < groups_[i].parameters.size(); ++place) {
      const auto& [given, tensor] = groups_[i].parameters[place];
      const std::string name = given.empty() ? group + "/" + std::to_string(place) : given;
      ProbeModels::Parameter& parameter = models.Adopt(tensor, name);
      parameter.group = group;
      parameters_.push_back(tensor);
      things_[tensor.unsafeGetTensorImpl()] = parameter.thing;
      group_of_[tensor.unsafeGetTensorImpl()] = i;
    }
  }
  clock.writer().Attribute(thing_, "parameters", std::to_string(parameters_.size()));
}

std::vector<uint32_t> ProbeOptimizer::ThingsOf(const std::vector<at::Tensor>& parameters) const {
  std::vector<uint32_t> things;
  for (const at::Tensor& parameter : parameters) {
    things.push_back(things_.at(parameter.unsafeGetTensorImpl()));
  }
  return things;
}

std::vector<std::pair<uint32_t, at::Tensor>> ProbeOptimizer::Parameters() const {
  std::vector<std::pair<uint32_t, at::Tensor>> found;
  for (const at::Tensor& parameter : parameters_) {
    found.emplace_back(things_.at(parameter.unsafeGetTensorImpl()), parameter);
  }
  return found;
}

void ProbeOptimizer::BeginStep() {
  if (clock_->takes_digest()) {
    models_->Describe();
    clock_->PutDigest(Quantity::kWeightsDigest, {thing_}, DigestTensors(parameters_));
    models_->WriteTies();
  }
  if (!clock_->sampled()) return;
  const bool in_autocast = !parameters_.empty() &&
                           at::autocast::is_autocast_enabled(parameters_.front().device().type());
  if (in_autocast) clock_->Put(Event::kAutocastStep, {thing_, thing_});
  LookAtFreezing();
  models_->LookForGradients();
  CopyWeights();
}

// The parameters whose turn it is, as many as fit, so that a step's copies stay small.
void ProbeOptimizer::CopyWeights() {
  before_.clear();
  copied_.clear();
  if (parameters_.empty()) return;
  const bool on_host = parameters_.front().device().is_cpu();
  const size_t room = on_host ? kMostCopiedBytes : kMostCopiedBytesOnDevice;
  size_t bytes = 0;
  for (size_t turn = 0; turn < parameters_.size(); ++turn) {
    const at::Tensor& parameter = parameters_[next_copied_];
    bytes += parameter.nbytes();
    if (turn > 0 && bytes > room) return;
    copied_.push_back(parameter);
    before_.push_back(parameter.detach().clone());
    next_copied_ = (next_copied_ + 1) % parameters_.size();
  }
}

// In a step that is not sampled: is something not finite, or does it cost nothing to see? An
// accelerator works out the norms in the background. On the CPU the gradient of one small parameter
// near the input is looked at: what is not finite spreads back through the whole model.
bool ProbeOptimizer::NeedsNorms() const {
  if (clock_->sampled() || !parameters_.front().device().is_cpu()) return true;
  const size_t near = std::min(kFirstParameters, parameters_.size());
  const auto smallest = std::min_element(
      parameters_.begin(), parameters_.begin() + static_cast<std::ptrdiff_t>(near),
      [](const at::Tensor& a, const at::Tensor& b) { return a.numel() < b.numel(); });
  const at::Tensor& gradient = smallest->grad();
  return gradient.defined() && !gradient.is_sparse() && !HasFiniteSum(gradient);
}

void ProbeOptimizer::Consume() {
  std::vector<at::Tensor> with_gradient;
  for (const at::Tensor& parameter : parameters_) {
    if (parameter.grad().defined()) with_gradient.push_back(parameter);
  }
  const std::vector<at::Tensor> gradients = Gradients(with_gradient);
  at::Tensor norms;
  if (!gradients.empty() && NeedsNorms()) norms = Norms(gradients);
  if (const int uncleared = clearing_.Consumed(with_gradient, norms); uncleared > 0) {
    clock_->Put(Event::kUncleared, {thing_, thing_}, uncleared);
  }
  if (norms.defined())
    WriteNorms(Quantity::kGradientNorm, with_gradient, gradients, norms, clock_->sampled());
  if (update_check_.IsDue()) PrepareUpdateCheck();
}

void ProbeOptimizer::LookAtFreezing() {
  for (const at::Tensor& parameter : parameters_) {
    const bool is_frozen = !parameter.requires_grad();
    const at::TensorImpl* key = parameter.unsafeGetTensorImpl();
    const auto [seen, is_new] = frozen_.try_emplace(key, is_frozen);
    if (is_new || seen->second == is_frozen) continue;
    seen->second = is_frozen;
    clock_->Put(is_frozen ? Event::kFrozen : Event::kThawed, {things_.at(key), thing_});
  }
}

// Of the parameters that are copied at this step anyway.
void ProbeOptimizer::PrepareUpdateCheck() {
  std::vector<UpdateCheck::Parameter> parameters;
  for (const at::Tensor& parameter : copied_) {
    const Probe::Group& group = groups_[group_of_.at(parameter.unsafeGetTensorImpl())];
    if (!group.rate || !group.weight_decay) return;
    parameters.push_back({parameter, things_.at(parameter.unsafeGetTensorImpl()), group.rate(),
                          group.weight_decay()});
  }
  update_check_.Before(parameters);
}

void ProbeOptimizer::WriteScheduled(const std::vector<double>& rates) {
  for (size_t i = 0; i < std::min(rates.size(), group_things_.size()); ++i) {
    clock_->Put(Quantity::kScheduledRate, {group_things_[i], thing_}, rates[i]);
  }
}

// Not `always`: only if some value is not finite. What has to be counted is counted in `measured`,
// unless the norm is read late, from an accelerator, when that is gone.
void ProbeOptimizer::WriteNorms(Quantity quantity, const std::vector<at::Tensor>& parameters,
                                const std::vector<at::Tensor>& measured, const at::Tensor& norms,
                                bool always) {
  const bool on_host = norms.device().is_cpu();
  clock_->transfer().Add(
      norms, [this, quantity, measured, always, on_host, things = ThingsOf(parameters),
              moment = clock_->now()](const std::vector<double>& values) {
        if (!always && AllFinite(values)) return;
        for (size_t i = 0; i < values.size(); ++i) {
          double nonfinite = std::isnan(values[i]) ? 1 : 0;
          if (!std::isfinite(values[i]) && on_host) nonfinite = CountNonFinite(measured[i]);
          clock_->Put(quantity, {things[i], thing_}, moment, values[i], nonfinite);
        }
      });
}

void ProbeOptimizer::WriteHeld() {
  std::vector<at::Tensor> holding;
  for (const at::Tensor& parameter : parameters_) {
    if (parameter.grad().defined()) holding.push_back(parameter);
  }
  if (holding.empty()) return;
  const std::vector<at::Tensor> gradients = Gradients(holding);
  WriteNorms(Quantity::kHeldGradientNorm, holding, gradients, Norms(gradients), true);
}

void ProbeOptimizer::AfterStep(bool taken) {
  if (!taken) update_check_.Forget();
  if (keeps_state_ && keeps_state_()) {
    clock_->writer().Attribute(thing_, "stateful", "1");
    keeps_state_ = nullptr;
  }
  if (clock_->sampled() && !parameters_.empty()) WriteWeights();
  update_check_.After();
  if (!clock_->takes_scalars()) return;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (!groups_[i].rate) continue;
    clock_->Put(Quantity::kLearningRate, {group_things_[i], thing_}, groups_[i].rate());
  }
}

void ProbeOptimizer::WriteWeights() {
  const std::vector<at::Tensor> weights = Detached(parameters_);
  WriteNorms(Quantity::kWeightNorm, parameters_, weights, Norms(weights), true);
  if (before_.empty()) return;
  at::_foreach_sub_(before_, Detached(copied_));
  WriteNorms(Quantity::kUpdateNorm, copied_, before_, Norms(before_), true);
  before_.clear();
}

}  // namespace dlcheck
