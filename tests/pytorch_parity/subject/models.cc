// models: parameters of ModelOptions by the names of its members, `threads`, `seed`. Inputs: `x`,
// `y`, `weight/NAME`. Puts out logits, loss, `gradient/NAME` and, after training, `buffer/NAME`.
// losses: parameters of LossOptions, `as` (mean, sum). Inputs: `outputs`, `targets`,
// `class_weights` if any. Puts out value and gradient, and the count of a sum.
// initial_weights: parameters as of models. Puts out the weights by name.
#include "reference/models/models.h"

#include "reference/models/losses.h"
#include "reference/models/resnet.h"
#include "tests/pytorch_parity/subject/subject.h"

namespace dlcheck::reference {
namespace {

ModelOptions OptionsOf(const Case& run) {
  ModelOptions options;
  options.name = run.Text("name", "mlp");
  options.sample_shape = {1, 8, 8};
  options.outputs = 10;
  options.width = run.Integer("width", 0);
  options.depth = run.Integer("depth", 0);
  options.heads = run.Integer("heads", 0);
  options.kv_heads = run.Integer("kv_heads", 0);
  options.patch = run.Integer("patch", 2);
  options.stochastic_depth = run.Number("stochastic_depth", 0);
  options.zero_init_residual = run.Flag("zero_init_residual");
  if (const int64_t size = run.Integer("ghost", 0); size > 0) {
    options.batch_norm = [size](auto& norm, const torch::Tensor& x) {
      return GhostNorm(norm, x, size);
    };
  }
  options.dropout = run.Number("dropout", 0);
  options.initialization = run.Text("initialization", "default");
  options.context = 24;
  options.vocabulary = 65;
  options.norm = run.Text("norm", "layernorm");
  options.activation = run.Text("activation", "gelu");
  options.position_embedding = run.Text("positions", "rotary");
  options.tie_embeddings = run.Flag("tied");
  options.checkpoint_blocks = run.Flag("checkpoint_blocks");
  options.attention_deviation = run.Named<AttentionDeviation>(
      "deviation", {{"none", AttentionDeviation::kNone},
                    {"sees_next_token", AttentionDeviation::kSeesNextToken},
                    {"hides_itself", AttentionDeviation::kHidesItself},
                    {"no_mask", AttentionDeviation::kNoMask},
                    {"rotary_base", AttentionDeviation::kRotaryBase}});
  if (run.Flag("head_is_a_clone")) options.tying_deviation = TyingDeviation::kHeadIsAClone;
  if (run.Flag("no_identity")) options.shortcut_deviation = ShortcutDeviation::kNoIdentity;
  if (run.Flag("halved_features")) {
    options.between = [](const torch::Tensor& features) { return 0.5 * features; };
  }
  return options;
}

LossOptions LossOf(const Case& run) {
  LossOptions options;
  options.kind =
      run.Named<LossOptions::Kind>("kind", {{"cross_entropy", LossOptions::Kind::kCrossEntropy},
                                            {"bce", LossOptions::Kind::kBce},
                                            {"mse", LossOptions::Kind::kMse},
                                            {"huber", LossOptions::Kind::kHuber},
                                            {"focal", LossOptions::Kind::kFocal},
                                            {"nt_xent", LossOptions::Kind::kNtXent}});
  options.unit = run.Named<LossOptions::Unit>(
      "unit", {{"token", LossOptions::Unit::kToken}, {"sample", LossOptions::Unit::kSample}});
  options.huber_delta = run.Number("huber_delta", 1);
  options.label_smoothing = run.Number("label_smoothing", 0);
  options.temperature = run.Number("temperature", options.temperature);
  options.focal_gamma = run.Number("focal_gamma", options.focal_gamma);
  options.z_loss = run.Number("z_loss", 0);
  options.ignore_index = run.Integer("ignore_index", -100);
  options.deviation = run.Named<LossDeviation>(
      "deviation", {{"none", LossDeviation::kNone},
                    {"smoothing_swapped", LossDeviation::kSmoothingSwapped},
                    {"ignored_counted", LossDeviation::kIgnoredCounted},
                    {"tokens_instead_of_samples", LossDeviation::kTokensInsteadOfSamples},
                    {"focus_on_sure", LossDeviation::kFocusOnSure},
                    {"unsquared_z", LossDeviation::kUnsquaredZ},
                    {"like_itself", LossDeviation::kLikeItself}});
  const Case::Tensors weights = run.Inputs("class_weights");
  if (!weights.empty()) options.class_weights = weights.begin()->second;
  return options;
}

}  // namespace

void Models(Case& run) {
  torch::manual_seed(static_cast<uint64_t>(run.Integer("seed", 0)));
  const Model model = MakeModel(OptionsOf(run));
  const Case::Tensors weights = run.Inputs("weight/");
  for (auto& parameter : model.module->named_parameters()) {
    const torch::NoGradGuard no_grad;
    parameter.value().copy_(weights.at(parameter.key()));
  }
  torch::manual_seed(static_cast<uint64_t>(run.Integer("seed", 0)));  // of what the pass draws
  at::set_num_threads(static_cast<int>(run.Integer("threads", 1)));
  const torch::Tensor logits = model.forward(run.Input("x"));
  const torch::Tensor targets = run.Input("y");
  LossOptions options;  // numbers are those of an image
  if (targets.is_floating_point()) options.kind = LossOptions::Kind::kMse;
  const torch::Tensor loss = MeanLoss(options, logits, targets);
  loss.backward();
  at::set_num_threads(1);
  run.Put("logits", logits);
  run.Put("loss", loss);
  for (const auto& parameter : model.module->named_parameters()) {
    run.Put("gradient/" + parameter.key(), parameter.value().grad());
  }
  for (const auto& buffer : model.module->named_buffers()) {
    run.Put("buffer/" + buffer.key(), buffer.value());
  }
}

void InitialWeights(Case& run) {
  torch::manual_seed(static_cast<uint64_t>(run.Integer("seed", 0)));
  const Model model = MakeModel(OptionsOf(run));
  for (const auto& parameter : model.module->named_parameters()) {
    run.Put(parameter.key(), parameter.value());
  }
}

void Losses(Case& run) {
  const LossOptions options = LossOf(run);
  const torch::Tensor outputs = run.Input("outputs").requires_grad_();
  const torch::Tensor targets = run.Input("targets");
  torch::Tensor loss;
  if (run.Text("as", "mean") == "mean") {
    loss = MeanLoss(options, outputs, targets);
  } else {
    const LossSum sum = SumOfLoss(options, outputs, targets);
    loss = sum.sum;
    run.Put("count", torch::tensor(sum.count, torch::kFloat64));
  }
  loss.backward();
  run.Put("value", loss);
  run.Put("gradient", outputs.grad());
}

}  // namespace dlcheck::reference
