#include "checks/observe/preload/experiments/dispatch_tap.h"

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/library.h>

#include <algorithm>
#include <exception>

#include "checks/observe/preload/watcher.h"

namespace dlcheck {
namespace {

constexpr c10::DispatchKey kTapKey = c10::DispatchKey::TESTING_ONLY_GenericMode;

thread_local Tap* tap_of_thread = nullptr;
thread_local bool is_handed_on = false;

struct HandedOn {
  HandedOn() { is_handed_on = true; }
  ~HandedOn() { is_handed_on = false; }
  HandedOn(const HandedOn&) = delete;
  HandedOn& operator=(const HandedOn&) = delete;
};

bool IsToldNow() {
  return tap_of_thread != nullptr && Watcher::Here() != nullptr &&
         torch::autograd::get_current_graph_task_id() == -1;
}

// The tap's own work: without gradients, and seen by nobody. No exception of it reaches the
// program.
template <typename Work>
void Apart(const Work& work) {
  const Watcher::Inside inside;
  const torch::NoGradGuard no_grad;
  try {
    work(*tap_of_thread);
  } catch (const c10::Error& error) {
    tap_of_thread->Failed(error.what_without_backtrace());
  } catch (const std::exception& error) {
    tap_of_thread->Failed(error.what());
  }
}

OperationValues Last(const torch::jit::Stack& stack, size_t count) {
  return {stack.end() - static_cast<std::ptrdiff_t>(count), stack.end()};
}

void Called(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard once(kTapKey);
  if (!IsToldNow()) return operation.callBoxed(stack);
  const c10::FunctionSchema& schema = operation.schema();
  OperationValues arguments = Last(*stack, schema.arguments().size());
  const bool has_gradients = at::GradMode::is_enabled();
  Apart([&](Tap& tap) { tap.Before(schema, has_gradients, arguments); });
  std::copy(arguments.begin(), arguments.end(),
            stack->end() - static_cast<std::ptrdiff_t>(arguments.size()));
  {
    const HandedOn handed_on;
    operation.callBoxed(stack);
  }
  OperationValues results = Last(*stack, schema.returns().size());
  Apart([&](Tap& tap) { tap.After(schema, arguments, results); });
  std::copy(results.begin(), results.end(),
            stack->end() - static_cast<std::ptrdiff_t>(results.size()));
}

}  // namespace

void BeginTap(Tap& tap) {
  // Stays until the process ends: libraries of operations are taken down in no order.
  static auto* const library =
      new torch::Library(torch::Library::IMPL, "_", kTapKey, __FILE__, __LINE__);
  static const bool is_set = [] {
    library->fallback(torch::CppFunction::makeFromBoxedFunction<&Called>());
    return true;
  }();
  (void)is_set;
  tap_of_thread = &tap;
  c10::impl::tls_set_dispatch_key_included(kTapKey, true);
}

bool MayLookAtOperation() { return tap_of_thread == nullptr || is_handed_on; }

}  // namespace dlcheck
