#include "reference/training/weights_file.h"

#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "reference/checkpoint/durable_file.h"
#include "reference/checkpoint/tensor_file.h"
#include "reference/recipe/rejection.h"
#include "reference/training/evaluate.h"

namespace dlcheck::reference {
namespace {

NamedTensors TensorsIn(const torch::nn::Module& module) {
  NamedTensors tensors;
  for (const auto& item : module.named_parameters()) {
    tensors.emplace_back(item.key(), item.value().detach());
  }
  for (const auto& item : module.named_buffers()) tensors.emplace_back(item.key(), item.value());
  return tensors;
}

std::string Shown(at::IntArrayRef sizes) {
  std::ostringstream text;
  text << sizes;
  return text.str();
}

}  // namespace

void ExportWeights(Training& training, const std::string& path) {
  const torch::NoGradGuard no_grad;
  ExchangeAverages(training);
  const bool is_first = training.distributed.ranks.is_first();
  const std::string bytes =
      is_first ? TensorFileBytes(TensorsIn(*training.model.module)) : std::string();
  ExchangeAverages(training);
  if (!is_first) return;
  const std::string unfinished = path + ".unfinished";
  try {
    WriteDurably(unfinished, bytes);
    Rename(unfinished, path);
  } catch (const SavingFailed&) {
    std::remove(unfinished.c_str());
    throw;
  }
}

void InitializeFrom(torch::nn::Module& module, const std::string& path) {
  const torch::NoGradGuard no_grad;
  const std::map<std::string, torch::Tensor> given = TensorsOf(path, ReadWhole(path));
  std::set<std::string> known;
  std::set<const void*> filled;
  const NamedTensors wanted = TensorsIn(module);
  for (const auto& [name, tensor] : wanted) {
    known.insert(name);
    const auto found = given.find(name);
    if (found == given.end()) continue;
    if (found->second.sizes() != tensor.sizes()) {
      throw InputRejected(path, "tensor '" + name + "' has shape " + Shown(found->second.sizes()) +
                                    ", and the model's has " + Shown(tensor.sizes()));
    }
    tensor.copy_(found->second);
    filled.insert(tensor.data_ptr());
  }
  for (const auto& [name, tensor] : wanted) {
    if (filled.count(tensor.data_ptr()) == 0) {
      throw InputRejected(path, "it has no tensor '" + name + "', which the model has");
    }
  }
  for (const auto& [name, tensor] : given) {
    if (known.count(name) == 0) {
      throw InputRejected(path, "the model has no tensor '" + name + "'");
    }
  }
}

}  // namespace dlcheck::reference
