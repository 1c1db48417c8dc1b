// Finds statements that throw away what an operation gives, as `scores.masked_fill(mask, value);`
// does: the tensor is gone before the next operation begins, in each step.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class UnusedResults {
 public:
  // Whether the last result may be gone.
  bool Waits() const { return last_ != nullptr; }
  // An operation that the program called itself is about to run, or something else that may take
  // the last result. Cost: a look at weak references.
  void NextBegins(ProbeRecorder& recorder);
  // Whether an operation gives a new tensor that has no other use than to be taken.
  static bool IsToBeTaken(const at::RecordFunction& function);
  // Such an operation, called by the program itself with gradients enabled, has returned.
  void Returned(const at::RecordFunction& function);

 private:
  // As at::TensorBase holds it, which knows an undefined one by another null.
  using Weak = c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>;
  struct Place {
    int steps = 0;  // in which nobody took the result
    int64_t last_step = -1;
    bool is_settled = false;  // it was taken once, or was told of
  };
  struct Last {
    Weak tensor;
    std::optional<c10::weak_intrusive_ptr<c10::StorageImpl>> storage;
    std::weak_ptr<torch::autograd::Node> node;
    Place* place;
    std::string name;
    Probe::Site site;
  };

  std::unique_ptr<Last> last_;
  std::map<std::pair<std::string, const char*>, Place> places_;  // by operation and site
};

}  // namespace dlcheck
