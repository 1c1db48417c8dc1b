#include "reference/checkpoint/snapshot.h"

#include <set>
#include <sstream>

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

std::string Described(const torch::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.scalar_type() << " " << tensor.sizes();
  return text.str();
}

void Fill(const std::string& path, const std::string& name, const torch::Tensor& from,
          torch::Tensor& to) {
  const bool takes_shape = to.numel() == 0;
  if (from.scalar_type() != to.scalar_type() || (!takes_shape && from.sizes() != to.sizes())) {
    throw InputRejected(
        path, "holds '" + name + "' as " + Described(from) + "; this run needs " + Described(to));
  }
  const torch::NoGradGuard no_grad;
  if (takes_shape) {
    to = from.to(to.device());
  } else {
    to.copy_(from);
  }
}

}  // namespace

NamedTensors StateOf(const std::vector<StatePart>& parts) {
  NamedTensors tensors;
  for (const StatePart& part : parts) {
    part.visit([&](const std::string& name, torch::Tensor& tensor) {
      tensors.emplace_back(part.name + "/" + name, tensor);
    });
  }
  return tensors;
}

void Restore(const std::string& path, const std::map<std::string, torch::Tensor>& state,
             const std::vector<StatePart>& parts) {
  std::set<std::string> seen;
  for (const StatePart& part : parts) {
    part.visit([&](const std::string& name, torch::Tensor& tensor) {
      const std::string full = part.name + "/" + name;
      const auto found = state.find(full);
      if (found == state.end()) throw InputRejected(path, "lacks '" + full + "'");
      Fill(path, full, found->second, tensor);
      seen.insert(full);
    });
  }
  for (const auto& [name, tensor] : state) {
    if (seen.count(name) == 0) {
      throw InputRejected(path, "holds '" + name + "', which this run does not have");
    }
  }
}

}  // namespace dlcheck::reference
