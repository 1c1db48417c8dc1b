#include "checks/observe/probe/probe_state.h"

#include <map>
#include <string>
#include <vector>

namespace dlcheck {

// By name within a part, so that a file which keeps another order than the program compares alike.
void WriteStateDigests(ProbeClock& clock, Quantity quantity, const Probe::NamedTensors& state) {
  std::map<std::string, std::map<std::string, at::Tensor>> parts;
  for (const auto& [name, tensor] : state) parts[name.substr(0, name.rfind('/'))][name] = tensor;
  for (const auto& [part, by_name] : parts) {
    std::vector<at::Tensor> tensors;
    for (const auto& [name, tensor] : by_name) tensors.push_back(tensor);
    clock.PutDigest(quantity, {clock.writer().Thing("state", 0, part)}, DigestTensors(tensors));
  }
}

void WriteModelDigests(ProbeClock& clock, const ProbeModels& models) {
  if (!clock.records_evaluation()) return;
  const std::vector<at::Tensor> contents = models.Contents();
  if (contents.empty()) return;
  const ProbeClock::About about{models.model_thing()};
  clock.PutDigest(Quantity::kModelDigest, about, DigestTensors(contents));
  const at::Tensor random = at::detail::getDefaultCPUGenerator().get_state();
  clock.PutDigest(Quantity::kRandomDigest, about, DigestTensors({random}));
}

}  // namespace dlcheck
