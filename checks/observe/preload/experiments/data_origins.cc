#include "checks/observe/preload/experiments/data_origins.h"

#include <algorithm>
#include <string>

#include "checks/observe/preload/experiments/data_flow.h"

namespace dlcheck {
namespace {

// Random numbers that are made of nothing, or in the place of others.
bool DrawsNumbers(const std::string& name) {
  for (const char* word :
       {"aten::randn", "aten::rand", "aten::randn_like", "aten::rand_like", "aten::normal_",
        "aten::uniform_", "aten::normal_functional", "aten::bernoulli_"}) {
    if (name == word) return true;
  }
  return false;
}

}  // namespace

int DataOrigins::First(int origin) const {
  while (joined_with_[static_cast<size_t>(origin)] != origin) {
    origin = joined_with_[static_cast<size_t>(origin)];
  }
  return origin;
}

int DataOrigins::Join(int one, int other) {
  const int first = std::min(First(one), First(other));
  const int second = std::max(First(one), First(other));
  joined_with_[static_cast<size_t>(second)] = first;
  is_noise_[static_cast<size_t>(first)] =
      is_noise_[static_cast<size_t>(first)] && is_noise_[static_cast<size_t>(second)];
  return first;
}

int DataOrigins::New(bool is_noise) {
  joined_with_.push_back(static_cast<int>(joined_with_.size()));
  is_noise_.push_back(is_noise);
  return joined_with_.back();
}

void DataOrigins::Set(const at::Tensor& tensor, int origin) {
  if (!tensor.has_storage()) return;
  known_.insert_or_assign(tensor.storage().unsafeGetStorageImpl(),
                          Known{tensor.storage().getWeakStorageImpl(), origin});
}

int DataOrigins::Of(const at::Tensor& tensor) {
  if (!tensor.has_storage()) return New(false);
  const auto found = known_.find(tensor.storage().unsafeGetStorageImpl());
  if (found != known_.end() && !found->second.storage.expired()) {
    return First(found->second.origin);
  }
  const int origin = New(false);
  Set(tensor, origin);
  return origin;
}

void DataOrigins::Called(const c10::FunctionSchema& schema, const OperationValues& arguments,
                         const OperationValues& results) {
  std::vector<at::Tensor> made_of;
  bool has_floats = false;
  for (const c10::IValue& argument : arguments) {
    EachTensor(argument, [&](const at::Tensor& tensor, size_t) {
      made_of.push_back(tensor);
      has_floats = has_floats || tensor.is_floating_point();
    });
  }
  int origin = -1;
  if (DrawsNumbers(schema.name())) {
    origin = New(true);
  } else {
    for (const at::Tensor& tensor : made_of) {
      if ((has_floats && !tensor.is_floating_point()) || tensor.dim() == 0) continue;
      origin = origin < 0 ? Of(tensor) : Join(origin, Of(tensor));
    }
  }
  if (origin < 0) return;
  for (const c10::IValue& result : results) {
    EachTensor(result, [&](const at::Tensor& tensor, size_t) { Set(tensor, origin); });
  }
}

void DataOrigins::StepEnds() {
  for (auto it = known_.begin(); it != known_.end();) {
    it = it->second.storage.expired() ? known_.erase(it) : std::next(it);
  }
}

}  // namespace dlcheck
