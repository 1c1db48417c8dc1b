#include "reference/models/initialization.h"

#include <algorithm>
#include <cmath>

#include "checks/records/nearest.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

namespace nn = torch::nn;

constexpr double kGpt2Deviation = 0.02;

// A weight that a rule may draw and the bias beside it, undefined if there is none.
struct Layer {
  std::string name;
  torch::Tensor weight, bias;
};

std::vector<Layer> LayersOf(const Model& model, bool with_embeddings) {
  std::vector<Layer> layers;
  for (const auto& module : model.module->named_modules()) {
    if (const auto* linear = module.value()->as<nn::LinearImpl>()) {
      layers.push_back({module.key(), linear->weight, linear->bias});
    } else if (const auto* convolution = module.value()->as<nn::Conv2dImpl>()) {
      layers.push_back({module.key(), convolution->weight, convolution->bias});
    } else if (const auto* embedding = module.value()->as<nn::EmbeddingImpl>();
               embedding != nullptr && with_embeddings) {
      layers.push_back({module.key(), embedding->weight, {}});
    }
  }
  return layers;
}

void ZeroBias(Layer& layer) {
  if (layer.bias.defined()) nn::init::zeros_(layer.bias);
}

bool IsProjection(const std::string& name) {
  const std::string ending = ".projection";
  return name.size() > ending.size() &&
         name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

// Each block adds to the stream twice, so its variance would grow with the number of projections.
void InitializeAsGpt2(const Model& model) {
  std::vector<Layer> layers = LayersOf(model, /*with_embeddings=*/true);
  const auto projections = std::count_if(
      layers.begin(), layers.end(), [](const Layer& layer) { return IsProjection(layer.name); });
  for (Layer& layer : layers) {
    const double divisor =
        IsProjection(layer.name) ? std::sqrt(static_cast<double>(projections)) : 1.0;
    nn::init::normal_(layer.weight, 0, kGpt2Deviation / divisor);
    ZeroBias(layer);
  }
}

void ZeroHead(Model& model) {
  if (!model.head) throw UsageError("initialization is zeros-head, but the model has no head");
  if (!model.tied.empty()) {
    throw UsageError("initialization zeros-head needs a head that is not tied to the embedding");
  }
  const torch::NoGradGuard no_grad;
  model.head->weight.zero_();
  if (model.head->bias.defined()) model.head->bias.zero_();
}

}  // namespace

const std::vector<std::string>& Initializations() {
  static const std::vector<std::string> names = {"default", "xavier", "kaiming", "gpt2",
                                                 "zeros-head"};
  return names;
}

void ZeroBranches(Model& model) {
  const torch::NoGradGuard no_grad;
  for (auto& parameter : model.module->named_parameters()) {
    const std::string& name = parameter.key();
    const bool is_branch = IsProjection(name.substr(0, name.rfind('.'))) ||
                           name.find(".norm2.weight") != std::string::npos;
    if (is_branch) parameter.value().zero_();
  }
}

void Initialize(Model& model, const std::string& rule) {
  if (rule == "default") return;
  if (rule == "gpt2") return InitializeAsGpt2(model);
  if (rule == "zeros-head") return ZeroHead(model);
  if (rule != "xavier" && rule != "kaiming") {
    throw UsageError("initialization '" + rule + "' is not known" +
                     DidYouMean(rule, Initializations()));
  }
  for (Layer& layer : LayersOf(model, /*with_embeddings=*/false)) {
    if (rule == "xavier") {
      nn::init::xavier_uniform_(layer.weight);
    } else {
      nn::init::kaiming_normal_(layer.weight, 0, torch::kFanIn, torch::kReLU);
    }
    ZeroBias(layer);
  }
}

}  // namespace dlcheck::reference
