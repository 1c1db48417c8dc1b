#include "checks/observe/probe/probe_calls.h"

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "checks/observe/probe/probe_models.h"

namespace dlcheck {
namespace {

constexpr char kPrefix[] = "c10d::";

struct Operation {
  std::string name;      // in Python
  bool is_even = false;  // all members give equally many numbers of one type
};

// Empty for what is sent from one process to another.
Operation OperationOf(const char* operator_name) {
  static const std::map<std::string_view, Operation> operations = {
      {"allreduce_", {"all_reduce", true}},
      {"allreduce_coalesced_", {"all_reduce", true}},
      {"allgather_", {"all_gather", true}},
      {"_allgather_base_", {"all_gather_into_tensor", true}},
      {"allgather_into_tensor_coalesced_", {"all_gather_into_tensor", true}},
      {"reduce_scatter_", {"reduce_scatter", true}},
      {"_reduce_scatter_base_", {"reduce_scatter_tensor", true}},
      {"reduce_scatter_tensor_coalesced_", {"reduce_scatter_tensor", true}},
      {"broadcast_", {"broadcast", true}},
      {"reduce_", {"reduce", true}},
      {"barrier", {"barrier", true}},
      {"alltoall_", {"all_to_all", false}},
      {"alltoall_base_", {"all_to_all_single", false}}};
  const auto found = operations.find(operator_name + sizeof(kPrefix) - 1);
  return found == operations.end() ? Operation() : found->second;
}

// A tensor, or all in a list, or in a list of lists.
void AddTensors(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) tensors.push_back(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue& part : value.toListRef()) AddTensors(part, tensors);
  }
}

// Processes of the group that a call names; 0 if it names none.
int SizeOfGroup(c10::ArrayRef<const c10::IValue> inputs) {
  for (const c10::IValue& input : inputs) {
    if (!input.isCustomClass()) continue;
    const auto type = input.type()->cast<c10::ClassType>();
    if (type && type == c10::getCustomClassType<c10::intrusive_ptr<c10d::ProcessGroup>>()) {
      return input.toCustomClass<c10d::ProcessGroup>()->getSize();
    }
  }
  return 0;
}

}  // namespace

bool IsCollective(const char* name) {
  return std::strncmp(name, kPrefix, sizeof(kPrefix) - 1) == 0;
}

void WriteCollective(ProbeClock& clock, const at::RecordFunction& function, int world,
                     uint32_t group) {
  const Operation operation = OperationOf(function.name());
  const auto inputs = function.inputs();
  if (operation.name.empty() || SizeOfGroup(inputs) != world) return;
  std::string words = operation.name;
  int64_t most = 0;
  std::set<std::string> types;
  if (operation.name != "barrier") {  // which is given a tensor of no meaning
    for (const c10::IValue& input : inputs) {
      std::vector<at::Tensor> tensors;
      AddTensors(input, tensors);
      int64_t bytes = 0;
      for (const at::Tensor& tensor : tensors) {
        bytes += static_cast<int64_t>(tensor.nbytes());
        types.insert(DtypeName(tensor));
      }
      most = std::max(most, bytes);
    }
  }
  if (operation.is_even) {
    for (const std::string& type : types) words += " " + type;
  }
  std::string members = "0-" + std::to_string(world - 1);
  clock.Put(Event::kCollective, {clock.writer().Thing("collective", 0, words), group},
            static_cast<double>(most));
  // One that the others do not call alike ends the process, or hangs.
  if (clock.sampled()) clock.writer().Flush();
}

}  // namespace dlcheck
