#include "reference/distributed/zero/operator_watch.h"

#include <ATen/record_function.h>

#include <memory>
#include <utility>

namespace dlcheck::reference {
namespace {

// A callback is a plain function; this is who it calls.
thread_local OperatorWatch* watching = nullptr;

void Add(const c10::IValue& value, OperatorWatch::Storages& storages) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    if (!tensor.defined() || !tensor.has_storage()) return;
    storages.push_back(tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl());
  } else if (value.isTensorList() || value.isOptionalTensorList()) {
    for (const c10::IValue& element : value.toListRef()) Add(element, storages);
  }
}

}  // namespace

struct OperatorWatch::Callbacks {
  // Nodes of a graph come through the same door.
  static bool IsWatched(const at::RecordFunction& function) {
    return watching != nullptr && function.operator_name().has_value();
  }

  static std::unique_ptr<at::ObserverContext> Begin(const at::RecordFunction& function) {
    if (!IsWatched(function)) return nullptr;
    Storages storages;
    for (const c10::IValue& input : function.inputs()) Add(input, storages);
    OperatorWatch& watch = *std::exchange(watching, nullptr);
    watch.reads_(storages, watch.depth_++ == 0);
    watching = &watch;
    return nullptr;
  }

  static void End(const at::RecordFunction& function, at::ObserverContext* /*context*/) {
    if (IsWatched(function)) --watching->depth_;
  }
};

OperatorWatch::OperatorWatch(std::function<void(const Storages& storages, bool is_outermost)> reads)
    : reads_(std::move(reads)),
      handle_(
          at::addThreadLocalCallback(at::RecordFunctionCallback(&Callbacks::Begin, &Callbacks::End)
                                         .needsInputs(true)
                                         .scopes({at::RecordScope::FUNCTION}))) {
  watching = this;
}

OperatorWatch::~OperatorWatch() {
  watching = nullptr;
  at::removeCallback(handle_);
}

}  // namespace dlcheck::reference
