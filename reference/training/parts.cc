// The state of a run, part by part: what a checkpoint is made of.
#include "reference/training/training.h"

namespace dlcheck::reference {
namespace {

void VisitModel(const Training& training, const VisitTensor& visit) {
  torch::nn::Module& module = *training.model.module;
  for (const auto& parameter : module.named_parameters()) {
    torch::Tensor kept = KeptOf(training.distributed.model_shards(), parameter.value());
    visit(parameter.key(), kept);
  }
  for (auto& buffer : module.named_buffers()) visit(buffer.key(), buffer.value());
}

// The gradients of a window that is not done yet. Which parameters have one comes first, so that
// there is a place to read each into.
void VisitGradients(const Counters& counters, torch::nn::Module& module, const VisitTensor& visit) {
  if (counters.micro == 0) return;
  auto parameters = module.named_parameters();
  torch::Tensor present = torch::zeros({static_cast<int64_t>(parameters.size())}, torch::kBool);
  auto flags = present.accessor<bool, 1>();
  for (size_t i = 0; i < parameters.size(); ++i) {
    flags[static_cast<int64_t>(i)] = parameters[i].value().grad().defined();
  }
  visit("present", present);
  const auto visited = present.accessor<bool, 1>();
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!visited[static_cast<int64_t>(i)]) continue;
    torch::Tensor& gradient = parameters[i].value().mutable_grad();
    if (!gradient.defined()) gradient = torch::zeros_like(parameters[i].value().detach());
    visit(parameters[i].key(), gradient);
  }
}

void VisitGenerator(const std::string& name, at::Generator generator, const VisitTensor& visit) {
  torch::Tensor state = generator.get_state();
  visit(name, state);
  generator.set_state(state);
}

void VisitRandom(const at::Device& device, const VisitTensor& visit) {
  VisitGenerator("cpu", at::detail::getDefaultCPUGenerator(), visit);
  if (!device.is_cuda()) return;
  VisitGenerator("cuda", at::globalContext().defaultGenerator(device), visit);
}

}  // namespace

std::vector<StatePart> PartsOf(Training& training) {
  torch::nn::Module& module = *training.model.module;
  Counters& counters = training.counters;
  std::vector<StatePart> parts = {
      {"counters", [&](const VisitTensor& visit) { counters.VisitState(visit); },
       /*differs_by_rank=*/true},
      {"metrics", [&](const VisitTensor& visit) { counters.VisitMetrics(visit); }},
      {"model", [&](const VisitTensor& visit) { VisitModel(training, visit); },
       /*differs_by_rank=*/training.distributed.model_shards() != nullptr},
      {"gradients", [&](const VisitTensor& visit) { VisitGradients(counters, module, visit); },
       /*differs_by_rank=*/true},
      {"optimizer", [&](const VisitTensor& visit) { training.optimizer->VisitState(visit); },
       /*differs_by_rank=*/training.distributed.shards != nullptr},
      {"scaler", [&](const VisitTensor& visit) { training.scaler->VisitState(visit); }},
      {"random", [&](const VisitTensor& visit) { VisitRandom(training.device, visit); },
       /*differs_by_rank=*/true},
  };
  if (training.average) {
    parts.push_back({"average",
                     [&](const VisitTensor& visit) { training.average->VisitState(visit); },
                     /*differs_by_rank=*/training.distributed.model_shards() != nullptr});
  }
  return parts;
}

}  // namespace dlcheck::reference
