#include "checks/observe/preload/losses/recurrent_states.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/given_tensors.h"
#include "checks/observe/preload/graph/saved_values.h"
#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/preload/losses/padding.h"

namespace dlcheck {
namespace {

using torch::autograd::Node;

constexpr int64_t kMostEntriesOfState = 64;
constexpr size_t kMostCallsOfStep = 16;

at::Tensor FirstEntries(const at::Tensor& state) {
  if (!IsAtHand(state)) return {};
  const at::Tensor flat = state.detach().reshape({-1});
  return flat.narrow(0, 0, std::min(flat.numel(), kMostEntriesOfState)).clone();
}

// Of the second argument, a state or several: the first one.
at::Tensor StateGiven(const at::RecordFunction& function) {
  const auto inputs = function.inputs();
  if (inputs.size() < 2) return {};
  if (!inputs[1].isTensorList()) return TensorGiven(function, 1);
  const auto states = inputs[1].toTensorVector();
  return states.empty() ? at::Tensor() : states.front();
}

// The layer by the first of its weights.
uint32_t LayerOfCall(const at::RecordFunction& function, ProbeRecorder& recorder) {
  const auto inputs = function.inputs();
  if (inputs.size() < 9 || !inputs[2].isTensorList()) return 0;
  const auto weights = inputs[2].toTensorVector();
  if (weights.empty()) return 0;
  const ProbeModels::Parameter* weight = recorder.models().Find(weights.front());
  if (weight != nullptr && weight->module_thing != 0) return weight->module_thing;
  const std::string_view name(function.name() + sizeof("aten::") - 1);
  return recorder.clock().writer().Thing("operation", 0, name);
}

bool IsOneOf(const std::vector<std::weak_ptr<Node>>& all, const Node* node) {
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& each) { return each.lock().get() == node; });
}

}  // namespace

// (batch, time): where the inputs are padding, which is one token or a row of zeros; undefined if
// they have none.
at::Tensor RecurrentStates::PaddingGiven(const at::Tensor& given,
                                         const std::vector<at::Tensor>& words) {
  for (const at::Tensor& tokens : words) {
    if (tokens.size(0) == given.size(0) && tokens.size(1) == given.size(1)) {
      return PaddingOf(tokens);
    }
  }
  return IsAtHand(given) ? ZeroPaddingOf(given.detach()) : at::Tensor();
}

void RecurrentStates::Begins(const at::RecordFunction& function,
                             const std::vector<at::Tensor>& words, ProbeRecorder& recorder) {
  open_ = {};
  begun_ = FirstEntries(StateGiven(function));
  const uint32_t layer = LayerOfCall(function, recorder);
  at::Tensor given = TensorGiven(function, 0);
  const auto inputs = function.inputs();
  if (layer == 0 || !given.defined() || given.dim() != 3) return;
  if (!inputs[inputs.size() - 1].isBool()) return;  // of packed sequences
  open_.layer = layer;
  const bool batch_first = inputs[inputs.size() - 1].toBool();
  if (!batch_first) given = given.transpose(0, 1);
  const at::Tensor padding = is_told_ ? at::Tensor() : PaddingGiven(given, words);
  if (!padding.defined()) return;
  open_.time = batch_first ? -2 : -3;
  open_.positions = padding.sum(1).max().item<double>();
  open_.rows = padding.any(1).sum().item<double>();
  open_.site = CallSite();
}

void RecurrentStates::Returned(const at::RecordFunction& function, bool is_shuffled,
                               ProbeRecorder& recorder) {
  Call call = std::exchange(open_, {});
  const auto& outputs = function.outputs();
  if (call.layer == 0 || outputs.size() < 2 || !outputs[0].isTensor()) return;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].isTensor() || outputs[i].toTensor().grad_fn() == nullptr) continue;
    (i == 0 ? call.outputs : call.states).emplace_back(outputs[i].toTensor().grad_fn());
  }
  const int64_t step = recorder.clock().step();
  const at::Tensor begun = std::exchange(begun_, at::Tensor());
  const at::Tensor ended =
      outputs[1].isTensor() ? FirstEntries(outputs[1].toTensor()) : at::Tensor();
  const auto [found, is_new] = states_.try_emplace(call.layer);
  State& state = found->second;
  const bool goes_on = !is_new && begun.defined() && state.ended.defined() && state.step < step &&
                       begun.equal(state.ended) && begun.any().item<bool>();
  if (goes_on && is_shuffled) {
    recorder.clock().Put(Quantity::kCarriedState, {call.layer, 0, recorder.Site(CallSite())},
                         ++state.carried);
  }
  state.step = step;
  state.ended = ended;
  if (call.time != -1 && calls_.size() < kMostCallsOfStep) calls_.push_back(std::move(call));
}

void RecurrentStates::Look(const WalkedGraph& graph, ProbeRecorder& recorder) {
  for (const Call& call : calls_) {
    bool is_read = false;
    for (const Node* node : graph.nodes) {
      is_read = is_read || IsOneOf(call.states, node);
      if (!IsOneOf(call.outputs, node)) continue;
      for (const Node* user : graph.UsersOf(node)) is_read = is_read || TakesLast(*user, call.time);
    }
    if (!is_read || std::exchange(is_told_, true)) continue;
    recorder.clock().Put(Quantity::kPaddingRead, {call.layer, 0, recorder.Site(call.site)},
                         call.positions, call.rows);
  }
}

}  // namespace dlcheck
