#include "checks/observe/preload/experiments/drawn_rows.h"

#include <string>

#include "checks/observe/preload/experiments/data_flow.h"
#include "checks/observe/preload/samplers.h"

namespace dlcheck {
namespace {

// Those that may put another dimension first.
bool TurnsAxes(const std::string& name) {
  for (const char* word : {"aten::t", "aten::transpose", "aten::permute", "aten::movedim",
                           "aten::swapaxes", "aten::numpy_T", "aten::mT"}) {
    if (name == word) return true;
  }
  return false;
}

// Of index_select(0, order) and index({order}): what names the rows.
at::Tensor RowsLookedUp(const c10::FunctionSchema& schema, const OperationValues& arguments) {
  if (schema.name() == "aten::index_select" && arguments[1].toInt() == 0) {
    return arguments[2].toTensor();
  }
  at::Tensor rows;
  if (schema.name() == "aten::index") {
    EachTensor(arguments[1], [&](const at::Tensor& tensor, size_t number) {
      if (number == 0) rows = tensor;
    });
  }
  return rows;
}

}  // namespace

bool DrawnRows::IsOrder(const at::Tensor& tensor) const {
  if (!tensor.has_storage()) return false;
  const auto found = orders_.find(tensor.storage().unsafeGetStorageImpl());
  return found != orders_.end() && !found->second.expired();
}

bool DrawnRows::IsOfDrawn(const at::Tensor& data) const {
  const auto found = drawn_.find(data.unsafeGetTensorImpl());
  return found != drawn_.end() && !found->second.tensor.expired();
}

bool DrawnRows::HaveSamples(const at::Tensor& data) const {
  if (data.dim() == 0 || data.size(0) < 2) return false;
  return data.size(0) == static_cast<int64_t>(SampledBatchSize()) ||
         (IsOfDrawn(data) && drawn_.at(data.unsafeGetTensorImpl()).has_samples);
}

bool DrawnRows::PutsTogether(const c10::FunctionSchema& schema, const OperationValues& arguments,
                             const at::Tensor& made) const {
  const std::string& name = schema.name();
  if (name == "aten::stack" && arguments[1].toInt() == 0) {
    return made.size(0) == static_cast<int64_t>(SampledBatchSize());
  }
  if (name == "aten::narrow" || name == "aten::slice") {
    return arguments[1].toInt() == 0 && HaveSamples(arguments[0].toTensor());
  }
  const at::Tensor rows = RowsLookedUp(schema, arguments);
  return rows.defined() && IsOrder(rows);
}

bool DrawnRows::Called(const c10::FunctionSchema& schema, const OperationValues& arguments,
                       const OperationValues& results) {
  if (results.size() != 1 || !results[0].isTensor()) return false;
  const at::Tensor& made = results[0].toTensor();
  if (!made.defined() || made.dim() == 0 || !made.has_storage()) return false;
  const bool puts_together = PutsTogether(schema, arguments, made);
  bool of_order = schema.name() == "aten::randperm" || schema.name() == "aten::randint";
  bool of_drawn = puts_together, has_samples = puts_together;
  for (const c10::IValue& argument : arguments) {
    EachTensor(argument, [&](const at::Tensor& tensor, size_t) {
      of_order = of_order || IsOrder(tensor);
      if (!IsOfDrawn(tensor)) return;
      of_drawn = true;
      has_samples = has_samples || (HaveSamples(tensor) && !TurnsAxes(schema.name()) &&
                                    tensor.size(0) == made.size(0));
    });
  }
  if (of_order && made.dim() == 1 && !made.is_floating_point()) {
    orders_.insert_or_assign(made.storage().unsafeGetStorageImpl(),
                             made.storage().getWeakStorageImpl());
  }
  if (of_drawn) {
    drawn_.insert_or_assign(made.unsafeGetTensorImpl(),
                            Drawn{Weak(made.getIntrusivePtr()), has_samples});
  }
  return puts_together;
}

}  // namespace dlcheck
