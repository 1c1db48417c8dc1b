#include "reference/precision/activation_checkpoint.h"

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "reference/precision/autocast.h"

namespace dlcheck::reference {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The state of the default generators of the CPU and of `device`.
class RandomState {
 public:
  explicit RandomState(at::Device device) {
    Add(at::kCPU);
    if (!device.is_cpu()) Add(device);
  }

  void Restore() const {
    for (const auto& [device, state] : states_) {
      at::Generator generator = at::globalContext().defaultGenerator(device);
      const std::lock_guard lock(generator.mutex());
      generator.set_state(state);
    }
  }

 private:
  void Add(at::Device device) {
    at::Generator generator = at::globalContext().defaultGenerator(device);
    const std::lock_guard lock(generator.mutex());
    states_.emplace_back(device, generator.get_state());
  }

  std::vector<std::pair<at::Device, Tensor>> states_;
};

// Puts the random state of its beginning back when it ends.
class RandomStateGuard {
 public:
  explicit RandomStateGuard(at::Device device) : before_(device) {}
  ~RandomStateGuard() { before_.Restore(); }
  RandomStateGuard(const RandomStateGuard&) = delete;
  RandomStateGuard& operator=(const RandomStateGuard&) = delete;

 private:
  RandomState before_;
};

// What autocast makes of operations on `device`; kFloat if it is off.
struct AutocastState {
  explicit AutocastState(at::DeviceType type)
      : device(type),
        to(at::autocast::is_autocast_enabled(type) ? at::autocast::get_autocast_dtype(type)
                                                   : at::kFloat),
        is_cached(at::autocast::is_autocast_cache_enabled()) {}
  at::DeviceType device;
  at::ScalarType to;
  bool is_cached;
};

// A call of Checkpointed, kept for its backward pass.
struct Call : torch::CustomClassHolder {
  Call(Block run, at::Device device, CheckpointDeviation deviates)
      : block(std::move(run)),
        random_state(device),
        autocast_cpu(at::kCPU),
        autocast_device(device.type()),
        deviation(deviates) {}

  // block(x) as it was in the forward pass, with gradients.
  Tensor Again(const Tensor& x) const {
    const RandomStateGuard random_state_stays(x.device());
    if (deviation != CheckpointDeviation::kOtherRandomness) random_state.Restore();
    const torch::AutoGradMode with_gradients(true);
    if (deviation == CheckpointDeviation::kAutocastLost) return block(x);
    const AutocastGuard on_cpu(at::kCPU, autocast_cpu.to, autocast_cpu.is_cached);
    std::optional<AutocastGuard> on_device;
    if (autocast_device.device != at::kCPU) {
      on_device.emplace(autocast_device.device, autocast_device.to, autocast_device.is_cached);
    }
    return block(x);
  }

  Block block;
  RandomState random_state;
  AutocastState autocast_cpu;
  AutocastState autocast_device;
  CheckpointDeviation deviation;
};

constexpr char kCall[] = "call";

// `anchor` requires a gradient and gets none: with it the backward pass comes even if `x` needs
// none.
struct Checkpoint : torch::autograd::Function<Checkpoint> {
  static Tensor forward(AutogradContext* context, const c10::intrusive_ptr<Call>& call,
                        const Tensor& x, const Tensor& /*anchor*/) {
    context->saved_data[kCall] = c10::IValue::make_capsule(call);
    context->save_for_backward({x});
    return call->block(x);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto call =
        c10::static_intrusive_pointer_cast<Call>(context->saved_data[kCall].toCapsule());
    const Tensor saved = context->get_saved_variables()[0];
    const Tensor x = saved.detach().set_requires_grad(saved.requires_grad());
    const Tensor output = call->Again(x);
    if (output.requires_grad()) torch::autograd::backward({output}, {gradients[0]});
    return {Tensor(), x.grad(), Tensor()};
  }
};

}  // namespace

Tensor Checkpointed(const Block& block, const Tensor& x, CheckpointDeviation deviation) {
  if (!at::GradMode::is_enabled()) return block(x);
  const auto call = c10::make_intrusive<Call>(block, x.device(), deviation);
  const Tensor anchor = torch::empty({0}, at::requires_grad());
  return Checkpoint::apply(call, x, anchor);
}

}  // namespace dlcheck::reference
