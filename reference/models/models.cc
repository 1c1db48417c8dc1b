#include "reference/models/models.h"

#include <numeric>

#include "reference/models/initialization.h"
#include "reference/models/lstm.h"
#include "reference/models/resnet.h"
#include "reference/models/transformer.h"
#include "reference/models/unet.h"
#include "reference/models/vit.h"
#include "reference/recipe/built_in_models.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

namespace nn = torch::nn;

constexpr int64_t kMlpWidth = 64;
constexpr int64_t kMlpDepth = 2;

struct Trunk {
  std::shared_ptr<nn::Module> module;
  FeatureFunction forward;
  int64_t features;
};

int64_t NumbersOf(const InputShape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// A linear layer whose weight is another module's.
class TiedLinear : public nn::LinearImpl {
 public:
  explicit TiedLinear(const torch::Tensor& shared)
      : nn::LinearImpl(nn::LinearOptions(shared.size(1), shared.size(0)).bias(false)) {
    parameters_["weight"] = shared;
    weight = shared;
  }
};

nn::Linear HeadOver(const torch::Tensor& weight) {
  const std::shared_ptr<nn::LinearImpl> head = std::make_shared<TiedLinear>(weight);
  return nn::Linear(head);
}

class Network : public nn::Module {
 public:
  Network(const Trunk& trunk, nn::Linear head, FeatureFunction between)
      : trunk_(trunk.forward), head_(head), between_(std::move(between)) {
    register_module("trunk", trunk.module);
    register_module("head", std::move(head));
  }

  torch::Tensor forward(torch::Tensor x) { return head_->forward(between_(trunk_(std::move(x)))); }

 private:
  FeatureFunction trunk_;
  nn::Linear head_;
  FeatureFunction between_;
};

// Nothing but the numbers of a sample in one row.
Trunk LinearTrunk(const ModelOptions& options) {
  nn::Sequential trunk(nn::Flatten{});
  return {trunk.ptr(), [trunk](torch::Tensor x) mutable { return trunk->forward(x); },
          NumbersOf(options.sample_shape)};
}

Trunk MlpTrunk(const ModelOptions& options) {
  const int64_t width = options.width > 0 ? options.width : kMlpWidth;
  const int64_t depth = options.depth > 0 ? options.depth : kMlpDepth;
  const int64_t inputs = NumbersOf(options.sample_shape);
  nn::Sequential trunk(nn::Flatten{});
  for (int64_t layer = 0; layer < depth; ++layer) {
    trunk->push_back(nn::Linear(layer == 0 ? inputs : width, width));
    trunk->push_back(nn::ReLU());
    if (options.dropout > 0) trunk->push_back(nn::Dropout(options.dropout));
  }
  return {trunk.ptr(), [trunk](torch::Tensor x) mutable { return trunk->forward(x); }, width};
}

Trunk ResnetTrunk(const ModelOptions& options) {
  Resnet trunk(options);
  return {trunk.ptr(), [trunk](torch::Tensor x) mutable { return trunk->forward(x); },
          trunk->features()};
}

Trunk VitTrunk(const ModelOptions& options) {
  Vit trunk(options);
  return {trunk.ptr(), [trunk](torch::Tensor x) mutable { return trunk->forward(x); },
          trunk->features()};
}

// The head of a language model has no bias: the embedding, whose weight it may share, has none.
template <typename LanguageTrunk>
Model MakeLanguageModel(LanguageTrunk language, const ModelOptions& options) {
  const Trunk trunk{language.ptr(),
                    [language](torch::Tensor x) mutable { return language->forward(x); },
                    language->features()};
  const torch::Tensor embedding = language->embedding();
  nn::Linear head{nullptr};
  if (!options.tie_embeddings) {
    head = nn::Linear(nn::LinearOptions(trunk.features, options.vocabulary).bias(false));
  } else if (options.tying_deviation == TyingDeviation::kHeadIsAClone) {
    head = HeadOver(embedding.detach().clone().requires_grad_());
  } else {
    head = HeadOver(embedding);
  }
  auto network = std::make_shared<Network>(trunk, head, options.between);
  Model model{network, [network](torch::Tensor x) { return network->forward(std::move(x)); }, head};
  if (options.tie_embeddings) model.tied = {{"trunk.embedding.weight", "head.weight"}};
  return model;
}

Model MakeClassifier(const Trunk& trunk, const ModelOptions& options) {
  nn::Linear head(trunk.features, options.outputs);
  auto network = std::make_shared<Network>(trunk, head, options.between);
  return {network, [network](torch::Tensor x) { return network->forward(std::move(x)); }, head};
}

// Without a head: its outputs are an image.
Model MakeUnet(const ModelOptions& options) {
  Unet unet(options);
  return {unet.ptr(), [unet](torch::Tensor x) mutable { return unet->forward(std::move(x)); }};
}

Model MakeUninitialized(const ModelOptions& options) {
  if (options.checkpoint_blocks && options.name != "gpt") {
    throw UsageError("blocks are recomputed in model gpt alone, not in " + options.name);
  }
  if (options.name == "linear") return MakeClassifier(LinearTrunk(options), options);
  if (options.name == "mlp") return MakeClassifier(MlpTrunk(options), options);
  if (options.name == "resnet") return MakeClassifier(ResnetTrunk(options), options);
  if (options.name == "vit") return MakeClassifier(VitTrunk(options), options);
  if (options.name == "unet") return MakeUnet(options);
  if (options.name == "gpt") return MakeLanguageModel(Transformer(options), options);
  if (options.name == "lstm") return MakeLanguageModel(Recurrent(options), options);
  throw UsageError("model is '" + options.name + "'; expected: " + NamesOfModels());
}

}  // namespace

Model MakeModel(const ModelOptions& options) {
  Model model = MakeUninitialized(options);
  const std::string own = options.name == "gpt" ? "gpt2" : "default";
  Initialize(model, options.initialization.empty() ? own : options.initialization);
  if (options.zero_init_residual) ZeroBranches(model);
  return model;
}

void SetHeadBias(Model& model, const torch::Tensor& bias) {
  if (!model.head || !model.head->bias.defined()) {
    throw UsageError("this model has no head with a bias to set");
  }
  const torch::NoGradGuard no_grad;
  model.head->bias.copy_(bias);
}

torch::Tensor LogPrior(const torch::Tensor& counts) {
  const torch::Tensor occurrences = counts.to(torch::kFloat64).clamp_min(1);
  return (occurrences / occurrences.sum()).log().to(torch::kFloat32);
}

}  // namespace dlcheck::reference
