#include "checks/observe/preload/experiments/data_flow.h"

namespace dlcheck {
namespace {

const c10::StorageImpl* StorageOf(const at::Tensor& tensor) {
  return tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl() : nullptr;
}

}  // namespace

void EachTensor(const c10::IValue& value,
                const std::function<void(const at::Tensor& tensor, size_t number)>& see) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) see(value.toTensor(), 0);
    return;
  }
  if (!value.isList()) return;
  const c10::ArrayRef<c10::IValue> list = value.toListRef();
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].isTensor() && list[i].toTensor().defined()) see(list[i].toTensor(), i);
  }
}

bool DataFlow::IsOfModel(const at::Tensor& tensor) const {
  return storages_.count(StorageOf(tensor)) > 0;
}

bool DataFlow::IsData(const at::Tensor& tensor) const {
  if (tensor.requires_grad() || IsOfModel(tensor)) return false;
  const auto found = derived_.find(tensor.unsafeGetTensorImpl());
  return found == derived_.end() || found->second.expired();
}

void DataFlow::Called(const c10::FunctionSchema& schema, const OperationValues& arguments,
                      const OperationValues& results) {
  bool is_derived = false;
  for (const c10::IValue& argument : arguments) {
    EachTensor(argument, [&](const at::Tensor& tensor, size_t) {
      is_derived = is_derived || !IsData(tensor);
    });
  }
  if (!is_derived) return;
  const auto derive = [this](const at::Tensor& tensor, size_t) {
    if (tensor.requires_grad() || IsOfModel(tensor)) return;
    derived_.insert_or_assign(tensor.unsafeGetTensorImpl(), Weak(tensor.getIntrusivePtr()));
  };
  for (const c10::IValue& result : results) EachTensor(result, derive);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const c10::AliasInfo* alias = schema.arguments()[i].alias_info();
    if (alias != nullptr && alias->isWrite()) EachTensor(arguments[i], derive);
  }
}

void DataFlow::MeetModels() {
  for (; met_ < models_->count(); ++met_) {
    for (const at::Tensor& tensor : models_->Contents(met_)) {
      if (const c10::StorageImpl* storage = StorageOf(tensor)) storages_.insert(storage);
    }
  }
}

void DataFlow::StepEnds() {
  for (auto it = derived_.begin(); it != derived_.end();) {
    it = it->second.expired() ? derived_.erase(it) : std::next(it);
  }
  met_ = 0;
  MeetModels();
}

}  // namespace dlcheck
